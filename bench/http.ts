// npm run bench: compares the gateway with baselines measured in the same run, because absolute throughput depends on the
// machine. Uses an embedded PostgreSQL without fsync, so writes are faster than in production.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { createRunFolder, startPostgres } from '../test/embedded-postgres.ts';
import type { Ready } from './server.ts';

interface Slot {
  readonly start: string;
  readonly end: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
}

interface Measure {
  readonly name: string;
  readonly url: string;
  readonly requests?: autocannon.Request[];
  /** Cleans up after a round that was cut off. */
  readonly cleanUp?: () => Promise<void>;
}

const careUnit = '/api/emrs/sandbox-no/care-units/oslo-sentrum';
const json = { 'content-type': 'application/json' };
const connections = 10;
const warmUpSeconds = 1;
const roundSeconds = 1;
/** Odd, because the median counts: other processes may slow down single rounds. */
const rounds = 7;

async function main(): Promise<void> {
  const folder = await createRunFolder();
  const postgres = await startPostgres(folder);
  try {
    const server = fork(new URL('./server.ts', import.meta.url), [postgres.url, folder]);
    const exit = once(server, 'exit');
    const [ready] = (await Promise.race([once(server, 'message'), exit])) as [Ready | number];
    if (typeof ready !== 'object') throw new Error('The server did not start');
    await run(ready);
    server.disconnect();
    await exit;
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(server: Ready): Promise<void> {
  const { gateway, bare, credentials } = server;
  const inCareUnit = `${gateway}${careUnit}`;
  const range = dayRange(1, 60);
  const slots = await freeSlots(`${inCareUnit}/timeslots?${range}&limit=500`, credentials);
  const [first, ...others] = slots;
  if (!first) throw new Error('The sandbox has no free slot');
  const id = await book(`${inCareUnit}/appointments`, credentials, first);

  const baselines: Measure[] = [
    { name: 'bare Fastify route', url: `${bare}/route` },
    { name: 'bare SQL statement', url: `${bare}/statement/${id}` },
  ];
  const measures: Measure[] = [
    { name: 'get one appointment', url: `${inCareUnit}/appointments/${id}` },
    { name: 'list 100 time slots', url: `${inCareUnit}/timeslots?${range}` },
    {
      name: 'create and cancel',
      url: gateway,
      requests: createAndCancel(others),
      cleanUp: () => cancelAll(`${inCareUnit}/appointments`, credentials, range, id),
    },
  ];
  const all = [...baselines, ...measures];
  for (const measure of all) await throughput(measure, credentials, warmUpSeconds);
  const measured: ReadonlyMap<Measure, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    const perSecond = new Map<Measure, number>();
    for (const measure of all) perSecond.set(measure, await throughput(measure, credentials, roundSeconds));
    measured.push(perSecond);
  }

  print(['', 'per second', ...baselines.map(({ name }) => `/ ${name}`)]);
  for (const measure of all) {
    const perSecond = median(measured.map((round) => round.get(measure) ?? 0));
    const ratios = baselines.map((baseline) =>
      median(measured.map((round) => (round.get(measure) ?? 0) / (round.get(baseline) ?? 1))).toFixed(2),
    );
    print([measure.name, perSecond.toFixed(0), ...ratios]);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Requests per second; a cycle of several requests counts once. */
async function throughput({ name, url, requests, cleanUp }: Measure, headers: Ready['credentials'], seconds: number) {
  const result = await autocannon({ url, headers, connections, duration: seconds, ...(requests ? { requests } : {}) });
  // Aborted requests may still be running.
  await sleep(200);
  await cleanUp?.();
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${name}: ${result.non2xx} unsuccessful responses, ${result.errors} errors`);
  }
  return result['2xx'] / result.duration / (requests?.length ?? 1);
}

/** Each connection books its own time and frees it again. */
function createAndCancel(slots: Slot[]): autocannon.Request[] {
  const appointments = `${careUnit}/appointments`;
  let turn = 0;
  return [
    {
      method: 'POST',
      path: appointments,
      setupRequest: (request, context: { id?: string }) => {
        delete context.id;
        const slot = slots[turn++ % slots.length];
        return { ...request, headers: { ...request.headers, ...json }, body: JSON.stringify(slot && creation(slot)) };
      },
      onResponse: (_status, body, context: { id?: string }) => {
        context.id = JSON.parse(body).id;
      },
    },
    {
      method: 'PATCH',
      setupRequest: (request, context: { id?: string }) => ({
        ...request,
        path: `${appointments}/${context.id}`,
        headers: { ...request.headers, ...json },
        body: JSON.stringify({ status: 'cancelled' }),
      }),
    },
  ];
}

function creation({ start, end, resource_id, healthcare_service_id }: Slot) {
  return {
    patient_id: 'p-3',
    resource_id,
    healthcare_service_id,
    start_time: start.slice(0, 19),
    end_time: end.slice(0, 19),
  };
}

async function freeSlots(url: string, headers: Ready['credentials']): Promise<Slot[]> {
  const { timeslots } = (await call(url, { headers })) as { timeslots: Slot[] };
  // Each time is listed once per service, but can be booked only once.
  return [...new Map(timeslots.map((slot) => [`${slot.start} ${slot.resource_id}`, slot])).values()];
}

async function book(url: string, headers: Ready['credentials'], slot: Slot): Promise<string> {
  const body = JSON.stringify(creation(slot));
  const { id } = (await call(url, { method: 'POST', headers: { ...headers, ...json }, body })) as { id: string };
  return id;
}

async function cancelAll(url: string, headers: Ready['credentials'], range: URLSearchParams, except: string) {
  const { appointments } = (await call(`${url}?${range}&status=booked`, { headers })) as {
    appointments: { id: string }[];
  };
  const body = JSON.stringify({ status: 'cancelled' });
  for (const { id } of appointments.filter((it) => it.id !== except)) {
    await call(`${url}/${id}`, { method: 'PATCH', headers: { ...headers, ...json }, body });
  }
}

async function call(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(await response.text());
  return await response.json();
}

function dayRange(from: number, to: number): URLSearchParams {
  const day = (offset: number) => new Date(Date.now() + offset * 24 * 60 * 60 * 1000).toISOString();
  return new URLSearchParams({ start: day(from), end: day(to) });
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, index) => (index === 0 ? cell.padEnd(22) : cell.padStart(22))).join('')}\n`);
}

await main();
