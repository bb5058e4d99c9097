import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { childClient } from '../processes/child-client.ts';
import { startChild } from '../processes/child-gateway.ts';
import { sodermalm } from '../requests/bookings.ts';

/*
 * Measures how far a reader has to go who follows one request, without any filter: each file of `server/src` that is entered,
 * their lines, and the entries into a file that was entered before. From each file these count once. Coming back from a call
 * to read on is no entry. Exits with 1 if one way is longer than the most below: npm run measure:reading [-- --files]
 */

/** Files, lines and entries into a file entered before. */
const most = {
  'booking with a code': [82, 9_910, 125],
  'its confirmation': [72, 8_980, 104],
  'GET of an appointment': [44, 5_590, 38],
  'FHIR booking': [104, 12_580, 165],
  // A round may send several.
  'delivery to a webhook': [28, 2_600, 60],
  'page of the console': [71, 7_200, 100],
} as const;
type Way = keyof typeof most;

const { values: options } = parseArgs({ options: { files: { type: 'boolean', default: false } } });
const root = new URL('../../server/src/', import.meta.url);
const linesOf = (file: string) => readFileSync(new URL(file, root), 'utf8').split('\n').length - 1;
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

const dataDir = await mkdtemp(join(tmpdir(), 'measure-reading-'));
const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const fromSources = ['--import', fileOf('./trace-files.ts'), fileOf('../../server/src/main.ts')];
const gateway = await startChild({ dataDir, command: [process.execPath, ...fromSources] });
try {
  const ways = await walk();
  for (const [name, calls] of Object.entries(ways) as [Way, readonly string[]][]) report(name, calls);
} finally {
  await gateway.kill();
  receiver.close();
  await rm(dataDir, { recursive: true, force: true });
}

/** Makes each request, and returns its calls from file to file. */
async function walk(): Promise<Record<Way, readonly string[]>> {
  const client = childClient(() => gateway);
  const traced = (name: Way) => ({ 'x-trace': name, 'idempotency-key': name.replaceAll(' ', '-') });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await client.send({ method: 'POST', path: '/api/webhook-endpoints', body: { url } });
  const booked = await client.send<{ id: string }>({
    method: 'POST',
    path: `${sodermalm}/appointments`,
    headers: traced('booking with a code'),
    body: { patient_id: 'p-1', ...(await freeTime()) },
  });
  const path = `${sodermalm}/appointments/${booked.body.id}`;
  const body = { confirmation: { code: await codeSent() } };
  await client.send({ method: 'PATCH', path, headers: traced('its confirmation'), body });
  await client.send({ method: 'GET', path, headers: traced('GET of an appointment') });
  const { start_time: start, end_time: end } = await freeTime();
  const actors = ['Patient/p-1', 'Practitioner/r-1', 'HealthcareService/consultation'];
  await client.send({
    method: 'POST',
    path: `${sodermalm}/fhir-r4/Appointment`,
    headers: { ...traced('FHIR booking'), 'content-type': 'application/fhir+json' },
    body: {
      resourceType: 'Appointment',
      status: 'booked',
      start,
      end,
      participant: actors.map((reference) => ({ actor: { reference }, status: 'accepted' })),
    },
  });
  const session = await sessionOfDemo();
  await fetch(`${gateway.address}/console`, { headers: { cookie: session, 'x-trace': 'page of the console' } });
  for (;;) {
    const traces = (await (await fetch(`${gateway.address}/traces`)).json()) as Record<string, string[]>;
    const delivery = Object.values(traces).find((calls) => calls.some((it) => it.endsWith('>webhooks/signing.ts')));
    if (delivery) return { ...traces, 'delivery to a webhook': delivery } as unknown as Record<Way, string[]>;
    await pause();
  }

  async function freeTime() {
    const from = new Date(Date.now() + 7 * 24 * 60 * 60 * 1000);
    const place = { resource_id: 'r-1', healthcare_service_id: 'consultation' };
    const query = new URLSearchParams({
      start: from.toISOString(),
      end: new Date(from.getTime() + 14 * 24 * 60 * 60 * 1000).toISOString(),
      ...place,
      limit: '1',
    });
    type Slots = { timeslots: { start: string; end: string }[] };
    const { body } = await client.send<Slots>({ method: 'GET', path: `${sodermalm}/timeslots?${query}` });
    const [slot] = body.timeslots;
    return { ...place, start_time: slot?.start, end_time: slot?.end };
  }
}

/** The code that was sent, from the demo's mailbox. */
async function codeSent(): Promise<string> {
  for (;;) {
    const response = await fetch(`${gateway.address}/demo/messages`, { headers: { accept: 'application/json' } });
    const [, found] = /\b(\d{6})\b/.exec(await response.text()) ?? [];
    if (found) return found;
    await pause();
  }
}

/** The cookies of a session in the demo's console. */
async function sessionOfDemo(): Promise<string> {
  const address = `${gateway.address}/console/sign-in`;
  const { name, password } = JSON.parse(await readFile(join(dataDir, 'demo-operator.json'), 'utf8'));
  const form = await fetch(address);
  const hidden = [...(await form.text()).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const fields = { ...Object.fromEntries(hidden.map(([, key = '', value = '']) => [key, value])), name, password };
  const cookies = (response: Response) => response.headers.getSetCookie().map((it) => it.split(';')[0]);
  const signedIn = await fetch(address, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie: cookies(form).join('; '), origin: gateway.address },
    redirect: 'manual',
  });
  if (signedIn.status !== 303) throw new Error(`The console answers ${signedIn.status} to a sign-in.`);
  return cookies(signedIn).join('; ');
}

function report(name: Way, calls: readonly string[]): void {
  if (!(name in most)) return;
  const files = new Set<string>();
  const entries = new Set<string>();
  for (const call of calls) {
    const [, to = ''] = call.split('>');
    if (files.has(to)) entries.add(call);
    files.add(to);
  }
  const lines = [...files].reduce((sum, file) => sum + linesOf(file), 0);
  const counts = [files.size, lines, entries.size] as const;
  process.stdout.write(`${name}: ${counts[0]} files, ${counts[1]} lines, ${counts[2]} entries again\n`);
  const folders = Map.groupBy(files, (file) => file.split('/')[0] ?? '');
  const byFolder = [...folders].map(([folder, { length }]) => `${folder} ${length}`);
  process.stdout.write(`  ${byFolder.join(', ')}\n`);
  if (options.files) process.stdout.write([...files, ...entries].map((line) => `  ${line}\n`).join(''));
  for (const [at, what] of ['files', 'lines', 'entries again'].entries()) {
    const [count = 0, allowed = 0] = [counts[at], most[name][at]];
    if (count <= allowed) continue;
    process.stderr.write(`${name}: ${count} ${what}, at most ${allowed} allowed. \`--files\` lists them.\n`);
    process.exitCode = 1;
  }
}
