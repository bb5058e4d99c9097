import { spawn } from 'node:child_process';
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort } from '../processes/free-port.ts';
import type { Appointment } from '../requests/bookings.ts';
import { codeIn, type Message } from '../requests/codes.ts';

const example = new URL('../../examples/fhir/', import.meta.url);
const folder = await mkdtemp(join(tmpdir(), 'crossward-example-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the example as users do, with other ports and another folder. */
async function startExample() {
  const [fhirUrl, fullUrl] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const asPublished = await readFile(new URL('crossward.yaml', example), 'utf8');
  const configuration = join(folder, 'crossward.yaml');
  await writeFile(
    configuration,
    asPublished.replace('http://127.0.0.1:8090', fhirUrl).replace('http://127.0.0.1:8091', fullUrl),
  );
  const child = spawn(process.execPath, [fileURLToPath(new URL('start.ts', example))], {
    env: {
      PATH: process.env.PATH,
      PORT: String(await freePort()),
      CROSSWARD_CONFIG: configuration,
      CROSSWARD_DATA_DIR: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const printed = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => output.includes('Ctrl-C') && resolve(output));
    void ended.then(() => reject(new Error(`The example did not start: ${output}`)));
  });
  return { child, ended, fhirUrl, printed, output: () => output };
}

test('the example books in FHIR servers, directly and by code, writes records, and removes its files', {
  timeout: 360_000,
}, async () => {
  const { child, ended, fhirUrl, printed, output } = await startExample();
  try {
    const credentials = join(folder, 'fhir-example', 'client.json');
    const { client_id, client_secret } = JSON.parse(await readFile(credentials, 'utf8'));
    expect((await stat(credentials)).mode & 0o077).toBe(0);
    expect(printed).not.toContain(client_secret);
    // A busy machine may be too slow for the EHR or the database. Nothing is changed then, and callers try again.
    const send = async (method: string, url: string, body: string) =>
      await vi.waitFor(
        async () => {
          const response = await sendOnce(method, url, body);
          expect(response.status).not.toBe(503);
          return response;
        },
        { timeout: 60_000, interval: 1_000 },
      );
    const sendOnce = async (method: string, url: string, body: string) => {
      const response = await fetch(url, {
        method,
        headers: {
          'x-service-client-id': client_id,
          'x-service-client-secret': client_secret,
          'content-type': 'application/json',
        },
        body,
      });
      return { status: response.status, body: (await response.json()) as Appointment };
    };

    const north = /^curl (\S+)/m.exec(printed)?.[1] ?? '';
    const request = / -d '(.*)'/.exec(printed)?.[1] ?? '';
    const booked = await send('POST', north, request);
    expect(booked).toMatchObject({ status: 201, body: { status: 'booked', emr: 'fhir', care_unit_id: 'north' } });
    const inEhr = await fetch(`${fhirUrl}/Appointment/${booked.body.id}`);
    expect(await inEhr.json()).toMatchObject({ resourceType: 'Appointment', status: 'booked' });
    expect(await send('POST', north, request)).toMatchObject({
      status: 400,
      body: { reason: 'time_slot_unavailable' },
    });

    const south = north.replace('north', 'south');
    const awaiting = await send('POST', south, request.replace('r-1', 'r-3'));
    expect(awaiting).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    const { id } = awaiting.body;
    const mailbox = new URL('/demo/messages', north);
    const message = await vi.waitFor(
      async () => {
        const response = await fetch(mailbox, { headers: { accept: 'application/json' } });
        const { messages } = (await response.json()) as { messages: readonly Message[] };
        const [found] = messages.filter((it) => it.appointment_id === id);
        if (!found) throw new Error('No message received');
        return found;
      },
      { timeout: 60_000 },
    );
    const confirmation = JSON.stringify({ confirmation: { code: codeIn(message) } });
    expect(await send('PATCH', `${south}/${id}`, confirmation)).toMatchObject({
      status: 200,
      body: { id, status: 'booked' },
    });
    const confirmed = await fetch(`${fhirUrl}/Appointment/${id}`);
    expect(await confirmed.json()).toMatchObject({ status: 'booked' });

    const create = async (path: string, body: object, emr: string) => {
      const url = north.replace('/fhir/', `/${emr}/`).replace('/appointments', path);
      return (await send('POST', url, JSON.stringify(body))).status;
    };
    const note = { text: 'Well.', author_id: 'r-1' };
    const file = { content_type: 'text/plain', content: 'U2VlIHJlZmVycmFs' };
    const inTenDays = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const evening = {
      start_time: `${inTenDays}T18:00:00`,
      end_time: `${inTenDays}T19:00:00`,
      slot_minutes: 30,
      healthcare_service_ids: ['consultation'],
    };
    for (const [emr, ...expected] of [
      ['fhir', 201, 501, 501],
      ['fhir-full', 201, 201, 201],
    ] as const) {
      const statuses = [
        await create('/patients/p-3/medical-notes', note, emr),
        await create('/patients/p-3/documents', file, emr),
        await create('/resources/r-1/schedules', evening, emr),
      ];
      expect([emr, ...statuses]).toEqual([emr, ...expected]);
    }

    child.kill('SIGINT');
    expect({ code: await ended, output: output() }).toMatchObject({ code: 0 });
    await expect(fetch(`${fhirUrl}/metadata`)).rejects.toThrow('fetch failed');
    await expect(fetch(mailbox)).rejects.toThrow('fetch failed');
    await expect(access(join(folder, 'fhir-example'))).rejects.toThrow('ENOENT');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
