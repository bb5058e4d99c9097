import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { startFake } from '../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment } from '../connectors/fhir-r4/src/fhir.ts';
import { heldUntilOf } from '../connectors/fhir-r4/src/mappers/appointment.ts';
import { hashSecret } from '../server/src/config/configuration.ts';
import { demoConfigurationPath } from '../server/src/config/file/demo.ts';
import { loadConfiguration } from '../server/src/config/file/load.ts';
import { scopes } from '../server/src/config/schema/schema.ts';
import { connectors } from '../server/src/ehr/connectors.ts';
import { createTestDatabase } from './database/database.ts';
import { writeFhirConfiguration } from './ehrs/fhir-configuration.ts';
import { fhirResourcesOf } from './ehrs/fhir-data.ts';
import { type ChildGateway, type ChildSetup, startChild } from './processes/child-gateway.ts';
import { type Appointment, type Slot, sodermalm } from './requests/bookings.ts';
import { type Confirmation, eventually } from './requests/codes.ts';
import { type Endpoint, startReceiver, verify } from './requests/webhook-receiver.ts';

const minute = 60_000;
const lifetime = 10 * minute;
const smsSecret = `whsec_${Buffer.from('the key of the SMS webhook').toString('base64')}`;
/** For a busy machine. Less than the clocks differ by. */
const tolerance = 2 * minute;

/** Starts an SMS provider that verifies signatures. */
async function startSms() {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { text } = new Webhook(smsSecret).verify(body, request.headers as Record<string, string>) as { text: string };
    texts.push(text);
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/sms`, texts };
}

/** A gateway in front of a FHIR server, on a machine whose clock is ahead of all others by this many milliseconds. */
async function startWrong(ahead: number, smsUrl: string) {
  const folder = await mkdtemp(join(inject('runFolder'), 'wrong-clock-'));
  const demo = await loadConfiguration({ path: demoConfigurationPath, connectors, environment: {} });
  const like = demo.emrs.find(({ id }) => id === 'sandbox-se');
  if (!like) throw new Error('The demo has no Swedish EHR');
  const server = await startFake({ data: fhirResourcesOf(like) });
  onTestFinished(() => server.close());
  const file = JSON.parse(await readFile(await writeFhirConfiguration(folder, () => server.url), 'utf8'));
  const client = { id: 'app', secret: 'a-client-secret-that-nobody-guesses-0001' };
  const path = join(folder, 'crossward.yaml');
  await writeFile(
    path,
    JSON.stringify({
      ...file,
      emrs: file.emrs.filter(({ id }: { id: string }) => id === like.id),
      clients: [
        { id: client.id, secrets: [{ sha256: hashSecret(client.secret) }], scopes, grants: [{ emr: like.id }] },
      ],
      messages: { sms: { provider: 'webhook', url: smsUrl, secret: { env: 'SMS_SECRET' } } },
      webhooks: { allow_private_addresses: true, allow_http: true },
    }),
  );
  const { url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  const variables = {
    CROSSWARD_CONFIG: path,
    CROSSWARD_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SMS_SECRET: smsSecret,
    WRONG_CLOCK_MS: String(ahead),
  };
  const setup: ChildSetup = { client, variables };
  const gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl, setup, preload: 'wrong-clock' });
  onTestFinished(async () => {
    await gateway.kill();
    await dispose();
  });
  return { gateway, server };
}

async function freeSlot(gateway: ChildGateway): Promise<Slot> {
  const start = new Date(Date.now() + 7 * 24 * 60 * minute);
  const query = new URLSearchParams({
    start: start.toISOString(),
    end: new Date(start.getTime() + 14 * 24 * 60 * minute).toISOString(),
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    limit: '1',
  });
  const path = `${sodermalm}/timeslots?${query}`;
  const response = await gateway.send<{ timeslots: Slot[] }>({ method: 'GET', path });
  const [slot] = response?.body.timeslots ?? [];
  if (!slot) throw new Error(`No free time slot: ${response?.text}`);
  return slot;
}

describe.each([-10, 10])("a gateway whose machine's clock is %d minutes ahead", (minutes) => {
  test('holds times as long as their codes last, and signs with the right time', async () => {
    const [sms, receiver] = [await startSms(), await startReceiver()];
    onTestFinished(() => receiver.close());
    const { gateway, server } = await startWrong(minutes * minute, sms.url);
    const body = { url: receiver.url };
    const endpoint = await gateway.send<Endpoint>({ method: 'POST', path: '/api/webhook-endpoints', body });
    expect(endpoint?.status).toBe(201);

    const slot = await freeSlot(gateway);
    const book = (patient_id: string) => {
      const { resource_id, healthcare_service_id, start: start_time, end: end_time } = slot;
      const booking = { patient_id, resource_id, healthcare_service_id, start_time, end_time };
      const path = `${sodermalm}/appointments`;
      return gateway.send<Appointment & { reason: string; confirmation: Confirmation | null }>({
        method: 'POST',
        path,
        body: booking,
      });
    };
    const before = Date.now();
    const held = await book('p-3');
    expect(held?.status).toBe(201);
    const id = held?.body.id;
    const expiry = Date.parse(String(held?.body.confirmation?.expires_at));
    expect(Math.abs(expiry - before - lifetime)).toBeLessThan(tolerance);
    const stored = server.store.get(`Appointment/${id}`) as unknown as FhirAppointment;
    expect(Math.abs((heldUntilOf(stored)?.getTime() ?? 0) - expiry)).toBeLessThan(5_000);

    expect((await book('p-1'))?.body.reason).toBe('time_slot_unavailable');
    const code = await eventually(() => {
      const found = /(?<!\d)\d{6}(?!\d)/.exec(sms.texts.join())?.[0];
      if (!found) throw new Error('No code has arrived');
      return found;
    });
    const path = `${sodermalm}/appointments/${id}`;
    const confirmed = await gateway.send<Appointment>({ method: 'PATCH', path, body: { confirmation: { code } } });
    expect(confirmed?.body).toMatchObject({ status: 'booked' });

    const delivered = await eventually(() => {
      if (receiver.received.length === 0) throw new Error('No event has arrived');
      return receiver.received;
    });
    for (const received of delivered) verify(received, endpoint?.body.secret ?? '');

    const metrics = await (await fetch(`${gateway.address}/metrics`)).text();
    const shown = Number(/^crossward_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
    expect(Math.abs(shown - minutes * 60)).toBeLessThan(5);
    const warning = await eventually(() => {
      const line = gateway.logLines.find((it) => it.includes('clock differs'));
      if (!line) throw new Error('No warning has been logged');
      return JSON.parse(line);
    });
    expect(warning).toMatchObject({ level: 40, ahead_seconds: expect.closeTo(minutes * 60, -1) });
  });
});
