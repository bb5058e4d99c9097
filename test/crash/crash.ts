import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../../server/src/db/database.ts';
import { createRunFolder, startPostgres } from '../database/embedded-postgres.ts';
import { findViolations } from '../database/invariants.ts';
import { type ChildGateway, type ChildRequest, type ChildResponse, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { oslo, riverside, type Slot, sodermalm } from '../requests/bookings.ts';
import { crashRecords } from './crash-records.ts';

/*
 * Kills the gateway at random moments under a load of bookings, moves, cancellations, confirmations, medical notes, documents
 * and schedules over the three sandbox EHRs, restarts it each time, and finally checks that the EHRs agree with the responses.
 *
 *   node test/crash/crash.ts [--kills 100] [--seed 1] [--database pglite|postgresql] [--gateways 1] [--faults]
 *
 * With several gateways (PostgreSQL only), one at a time is killed. With faults, the EHRs lose responses, become
 * unavailable for a while, and finish writes late (faulty-sandbox.ts).
 */

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    database: { type: 'string', default: 'pglite' },
    gateways: { type: 'string', default: '1' },
    faults: { type: 'boolean', default: false },
  },
});
const kills = Number(options.kills);
const concurrency = 12;
/** With faults, reconciliation takes longer. */
const idleTimeoutMs = options.faults ? 300_000 : 90_000;
const finalRetryTimeoutMs = options.faults ? 120_000 : 30_000;
/** Longer than an EHR delays a write. */
const lateWritesMs = options.faults ? 10_000 : 0;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Seeded random numbers (Mulberry32). */
let randomState = Number(options.seed);
function random(): number {
  randomState = (randomState + 0x6d2b79f5) | 0;
  let t = Math.imul(randomState ^ (randomState >>> 15), 1 | randomState);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
function pick<T>(items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

interface Appointment {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly end: string;
  readonly comment: string | null;
  readonly replaces_id: string | null;
  readonly confirmation: { readonly expires_at: string } | null;
}
type AppointmentResponse = ChildResponse<Appointment & { readonly reason?: string }>;

/** The expected state of an appointment. Only its own operations change it, one at a time. */
interface TrackedAppointment {
  readonly careUnit: string;
  readonly id: string;
  /** The appointment in the last response. */
  last: Appointment;
  /** The id of a pending two-step cancellation. */
  cancellation: string | undefined;
  /** When the awaited code expires. */
  expiresAt: number;
  isBusy: boolean;
}

/** A request without a response that is not retried during the load. */
interface AbandonedRequest {
  readonly request: ChildRequest;
  readonly known: TrackedAppointment | undefined;
  readonly slot: Slot | undefined;
}

const counts: Record<string, number> = {};
const count = (name: string) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const violations: string[] = [];
/** Numbers of confirmed bookings that are missing, of duplicate bookings, and of bookings without a response. */
const violationCounts = { lost: 0, doubled: 0, unrecorded: 0 };
const trackedAppointments: TrackedAppointment[] = [];
const creations = new Map<string, string | undefined>();
/** Requests without idempotency key that ended with `outcome_unknown` or without a response. */
const unknown = new Set<string>();
const abandoned: AbandonedRequest[] = [];
const slots = new Map<string, Slot[]>();
/** The gateway processes. While one restarts, requests wait for its replacement. */
const gateways: Promise<ChildGateway>[] = [];
let isOver = false;
let isStopping = false;
let lastKill = Infinity;

async function sendOnce<Body = AppointmentResponse['body']>(
  request: ChildRequest,
): Promise<ChildResponse<Body> | undefined> {
  const gateway = await pick(gateways);
  count('requests');
  return gateway.send(request);
}

/** Retries the request until it has a final response. Sometimes gives up. */
async function settle(request: ChildRequest): Promise<AppointmentResponse | undefined> {
  for (let attempt = 1; ; attempt++) {
    const response = await sendOnce(request);
    if (response && response.body.reason !== 'idempotency_in_progress' && response.status < 500) {
      if (response.headers.get('idempotency-replayed')) count('replayed responses');
      return response;
    }
    if (response && response.status >= 500) count(`responses with ${response.status}`);
    if (!response && attempt === 1) count('requests without a response');
    if (!response && random() < 0.2) return undefined;
    if (response?.body.reason === 'outcome_unknown' && random() < 0.1) return undefined;
    await sleep(Math.min(50 * attempt, 500));
  }
}

async function perform(
  body: object,
  known?: TrackedAppointment,
  slot?: Slot,
): Promise<AppointmentResponse | undefined> {
  const careUnit = known?.careUnit ?? pick([oslo, sodermalm, riverside]);
  return performAt(careUnit, body, known?.cancellation ?? known?.id, known, slot);
}

async function performAt(
  careUnit: string,
  body: object,
  id: string | undefined,
  known: TrackedAppointment | undefined,
  slot: Slot | undefined,
): Promise<AppointmentResponse | undefined> {
  const request: ChildRequest = {
    method: id === undefined ? 'POST' : 'PATCH',
    path: `${careUnit}/appointments${id === undefined ? '' : `/${id}`}`,
    body,
    headers: { 'idempotency-key': randomUUID() },
  };
  const response = await settle(request);
  if (!response) abandoned.push({ request, known, slot });
  return response;
}

/** A request that is not retried: it may be executed once or not at all, unless the response says that nothing was done. */
async function createWithoutKey(request: ChildRequest, comment: string): Promise<AppointmentResponse | undefined> {
  const response = await sendOnce<AppointmentResponse['body']>(request);
  if (response && response.status < 500) return response;
  count('failed without an idempotency key');
  if (!response || response.body.reason === 'outcome_unknown' || response.body.reason === 'ehr_timeout')
    unknown.add(comment);
  return undefined;
}

async function create(): Promise<void> {
  const careUnit = pick([oslo, sodermalm, riverside]);
  const slot = pick(slots.get(careUnit) ?? []);
  const comment = `creation ${creations.size + 1}`;
  creations.set(comment, undefined);
  const body = {
    patient_id: `p-${1 + Math.floor(random() * 18)}`,
    resource_id: slot.resource_id,
    healthcare_service_id: slot.healthcare_service_id,
    start_time: slot.start.slice(0, 19),
    end_time: slot.end.slice(0, 19),
    comment,
  };
  const isKeyed = random() < 0.85;
  const response = isKeyed
    ? await performAt(careUnit, body, undefined, undefined, slot)
    : await createWithoutKey({ method: 'POST', path: `${careUnit}/appointments`, body }, comment);
  if (!response) return;
  if (response.status === 201) {
    count(`booked, ${response.body.status}`);
    creations.set(comment, response.body.id);
    trackedAppointments.push({
      careUnit,
      id: response.body.id,
      last: response.body,
      cancellation: undefined,
      expiresAt: expiryOf(response.body),
      isBusy: false,
    });
  } else if (response.body.reason === 'time_slot_unavailable') count('time slot unavailable');
  else reportViolation(`unexpected response to a booking: ${response.text}`);
}

async function change(known: TrackedAppointment): Promise<void> {
  known.isBusy = true;
  const hasResponse = await changeOnce(known);
  // A request that was not retried may have been executed or not.
  if (hasResponse) known.isBusy = false;
}

async function changeOnce(known: TrackedAppointment): Promise<boolean> {
  const { careUnit, last } = known;
  if (known.cancellation !== undefined || last.status === 'awaiting_confirmation') {
    const pendingId = known.cancellation ?? known.id;
    if (random() < 0.1 && known.cancellation === undefined)
      return record(known, await perform({ status: 'cancelled' }, known), 'released');
    const code = await codeFor(pendingId);
    if (code === undefined) return true;
    return record(known, await perform({ confirmation: { code } }, known), 'confirmed');
  }
  if (random() < 0.4) return record(known, await perform({ status: 'cancelled' }, known), 'cancelled');
  const slot = pick(slots.get(careUnit) ?? []);
  return record(
    known,
    await perform({ start: slot.start, end: slot.end, resource_id: slot.resource_id }, known, slot),
    'moved',
  );
}

function record(known: TrackedAppointment, response: AppointmentResponse | undefined, word: string): boolean {
  if (!response) return false;
  const { status, body } = response;
  if (status === 200) {
    count(word);
    if (body.replaces_id === null) known.last = body;
    else if (body.status === 'awaiting_confirmation') {
      known.cancellation = body.id;
      known.expiresAt = expiryOf(body);
    } else {
      known.cancellation = undefined;
      known.last = { ...known.last, status: body.status };
    }
  } else if (body.reason === 'confirmation_expired' && hasExpired(known)) {
    count('code expired');
    if (known.cancellation === undefined) known.last = { ...known.last, status: 'cancelled' };
    known.cancellation = undefined;
  } else if (word === 'moved' && body.reason === 'time_slot_unavailable') count('time slot unavailable');
  else reportViolation(`${word} of ${known.id}: ${response.text}`);
  return true;
}

const expiryOf = ({ confirmation }: Appointment) => (confirmation ? Date.parse(confirmation.expires_at) : Infinity);
const hasExpired = ({ expiresAt }: TrackedAppointment) => Date.now() >= expiresAt;

interface Message {
  readonly appointment_id: string;
  readonly text: string;
}

/** One shared read for all waiting requests. */
let mailbox: Promise<readonly Message[]> | undefined;
function readMailbox(): Promise<readonly Message[]> {
  mailbox ??= read().finally(() => {
    mailbox = undefined;
  });
  return mailbox;

  async function read(): Promise<readonly Message[]> {
    await sleep(200);
    const response = await sendOnce({ method: 'GET', path: '/demo/messages', headers: { accept: 'application/json' } });
    return ((response?.body ?? {}) as { messages?: Message[] }).messages ?? [];
  }
}

/** Waits for the message: at most a minute after the last kill. */
async function codeFor(id: string): Promise<string | undefined> {
  while (Date.now() < lastKill + 60_000) {
    const about = (await readMailbox()).filter((it) => it.appointment_id === id);
    if (about.length > 1) reportViolation(`${about.length} messages about ${id}`);
    const code = /(?<!\d)\d{6}(?!\d)/.exec(about[0]?.text ?? '')?.[0];
    if (code) return code;
  }
  reportViolation(`no message about ${id}`);
  return undefined;
}

function reportViolation(text: string): void {
  violations.push(text);
  process.stdout.write(`  ✗ ${text}\n`);
}

const records = crashRecords({
  pick,
  count,
  reportViolation,
  settle,
  read: (path) => sendOnce<unknown>({ method: 'GET', path }),
});

/** Sends random requests until `isOver`. Starts new ones while others are overdue. */
async function load(): Promise<void> {
  const running = new Set<Promise<void>>();
  while (!isOver) {
    await Promise.race(gateways);
    const idle = trackedAppointments.filter((it) => !it.isBusy && it.last.status !== 'cancelled');
    const work = random() < 0.2 ? records.write() : idle.length < 30 || random() < 0.3 ? create() : change(pick(idle));
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
    const recent = sleep(1_500);
    while (running.size >= concurrency * 8) await Promise.race(running);
    if (running.size >= concurrency) await Promise.race([...running, recent]);
  }
  await Promise.all(running);
}

/** Enough slots in each care unit for the whole run. */
const manySlots = 200 + 4 * kills;

async function readSlots(): Promise<void> {
  const from = Date.now() + 7 * dayMilliseconds;
  for (const careUnit of [oslo, sodermalm, riverside]) {
    const query = new URLSearchParams({
      start: new Date(from).toISOString(),
      end: new Date(from + 50 * dayMilliseconds).toISOString(),
      healthcare_service_id: 'consultation',
      limit: '100',
    });
    const found: Slot[] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < manySlots; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const response = await sendOnce<SlotPage>({ method: 'GET', path: `${careUnit}/timeslots?${query}` });
      found.push(...(response?.body.timeslots ?? []));
      cursor = response?.body.next_cursor ?? null;
    }
    slots.set(careUnit, found);
  }
}

interface SlotPage {
  readonly timeslots: Slot[];
  readonly next_cursor: string | null;
}

/** Compares every response with the EHRs. */
async function compare(): Promise<void> {
  for (const known of trackedAppointments) {
    const response = await sendOnce({ method: 'GET', path: `${known.careUnit}/appointments/${known.id}` });
    const found = response?.body;
    if (!found || response.status !== 200) {
      reportViolation(`lost: ${known.id} ${response?.text}`);
      continue;
    }
    const open = abandoned.filter((it) => it.known === known).map(({ request }) => request.body ?? {});
    const { status, start } = known.last;
    const allowed = [`${status} ${instant(start)}`];
    for (const body of open) {
      if ('status' in body && !(known.careUnit === riverside)) allowed.push(`cancelled ${instant(start)}`);
      if ('confirmation' in body) allowed.push(`${known.cancellation ? 'cancelled' : 'booked'} ${instant(start)}`);
      if ('start' in body) allowed.push(`${status} ${instant(String(body.start))}`);
    }
    if (status === 'awaiting_confirmation' && hasExpired(known)) allowed.push(`cancelled ${instant(start)}`);
    const now = `${found.status} ${instant(found.start)}`;
    if (!allowed.includes(now)) reportViolation(`${known.id} is ${now}, not ${allowed.join(' or ')}`);
    else count('match the last response');
  }
}

const instant = (text: string) => new Date(text).toISOString();

interface GatewayDatabase {
  readonly databaseUrl: string | undefined;
  stop(): Promise<void>;
}

async function prepareDatabase(folder: string): Promise<GatewayDatabase> {
  if (options.database === 'pglite') return { databaseUrl: undefined, stop: async () => undefined };
  if (options.database !== 'postgresql') throw new Error('--database must be pglite or postgresql');
  const server = await startPostgres(folder, { detached: true });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE DATABASE crossward');
  await client.end();
  const url = new URL(server.url);
  url.pathname = 'crossward';
  return { databaseUrl: url.href, stop: () => server.stop() };
}

async function killAll(): Promise<void> {
  for (const gateway of gateways) await (await gateway).kill();
}

async function until(name: string, condition: () => Promise<unknown[]>): Promise<void> {
  const deadline = Date.now() + idleTimeoutMs;
  let left: unknown[] = [];
  do {
    left = await condition();
    if (left.length === 0) return;
    await sleep(1_000);
  } while (Date.now() < deadline);
  reportViolation(`${name}: ${JSON.stringify(left.slice(0, 5))}`);
}

async function main(): Promise<void> {
  const folder = await createRunFolder();
  const gatewayDatabase = await prepareDatabase(folder);
  const dataDir = join(folder, 'gateway');
  const { databaseUrl } = gatewayDatabase;
  const preload = options.faults ? new URL('../processes/faulty-sandbox.ts', import.meta.url) : undefined;
  const setup = await writeQuickDemo(folder);
  const start = () => startChild({ dataDir, databaseUrl, setup, ...(preload && { preload }) });
  process.stdout.write(`${kills} kills on ${options.database}, seed ${options.seed}\n`);
  const size = Number(options.gateways);
  if (size > 1 && databaseUrl === undefined) throw new Error('--gateways requires --database postgresql');
  try {
    for (let index = 0; index < size; index++) {
      gateways.push(start());
      // The first gateway creates the shared files.
      await gateways[index];
    }
    await readSlots();
    const working = load();
    for (let kill = 1; kill <= kills && !isStopping; kill++) {
      await sleep(50 + random() * 900);
      const index = Math.floor(random() * size);
      const killed = gateways[index]?.then((it) => it.kill());
      gateways[index] = Promise.resolve(killed).then(start);
      count('kills');
      await gateways[index];
      if (kill % 10 === 0) process.stdout.write(`  ${kill} kills, ${trackedAppointments.length} appointments\n`);
    }
    isOver = true;
    lastKill = Date.now();
    await working;
    process.stdout.write('  load finished\n');
    await sleep(lateWritesMs);
    await expectIdle(dataDir, databaseUrl, start);
    await compare();
    await retryAbandoned();
    await sleep(lateWritesMs);
    await expectIdle(dataDir, databaseUrl, start);
    await records.compare();
    await compareCreations(dataDir, databaseUrl);
  } finally {
    await killAll();
    await gatewayDatabase.stop();
    await rm(folder, { recursive: true, force: true });
  }
  report();
}

function report(): void {
  const rows = Object.entries({ ...counts, 'abandoned requests': abandoned.length }).toSorted();
  for (const [name, number] of [...rows, ...Object.entries(violationCounts), ['violations', violations.length]]) {
    process.stdout.write(`${String(number).padStart(7)}  ${name}\n`);
  }
  process.exitCode = violations.length > 0 ? 1 : 0;
}

/** Requests that were not retried are completed or compensated in the background. */
async function expectIdle(dataDir: string, databaseUrl: string | undefined, start: () => Promise<ChildGateway>) {
  await until('not idle', async () => {
    if (databaseUrl === undefined) {
      // Only one process can open the embedded database, so let the gateway run a few rounds of background jobs first.
      await sleep(8_000);
      await killAll();
    }
    const database = await openDatabase({ databaseUrl, dataDir });
    const found = await findViolations(database).finally(() => database.close());
    if (databaseUrl === undefined) gateways[0] = start();
    return Object.entries(found);
  });
}

/** Retries abandoned requests. Each returns the result of its operation. */
async function retryAbandoned(): Promise<void> {
  for (const { request, known, slot } of abandoned) {
    const deadline = Date.now() + finalRetryTimeoutMs;
    for (;;) {
      const response = await sendOnce(request);
      if (response && response.body.reason !== 'idempotency_in_progress' && response.status < 500) {
        const { comment } = (request.body ?? {}) as { comment?: string };
        if (!known && response.status === 201 && comment) creations.set(comment, response.body.id);
        const isExpected = response.status < 300 || response.body.reason === 'time_slot_unavailable';
        if (!isExpected && (slot || !known)) reportViolation(`final retry: ${response.text}`);
        count('final retries');
        break;
      }
      if (Date.now() > deadline) {
        reportViolation(`no final response for an idempotency key: ${response?.text}`);
        break;
      }
      await sleep(100);
    }
  }
}

/** Expects one appointment per idempotency key: the one in the response. */
async function compareCreations(dataDir: string, databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) await killAll();
  const database = await openDatabase({ databaseUrl, dataDir });
  const client = await database.pool.connect();
  const { rows } = await client.query<{ comment: string; id: string; state: string; has_code: boolean }>(
    `SELECT comment, id, state, EXISTS (SELECT 1 FROM confirmation_items AS item
       WHERE item.emr = appointment.emr AND item.appointment_id = appointment.id) AS has_code
     FROM sandbox.appointments AS appointment WHERE comment LIKE 'creation %'`,
    [],
  );
  const unfinished = await client.query<{ state: string }>(
    `SELECT state FROM operations WHERE state <> 'done' AND sealed_plan IS NOT NULL`,
    [],
  );
  client.release();
  await database.close();
  if (unfinished.rows.length > 0) reportViolation(`${unfinished.rows.length} operations are unfinished`);
  const byComment = Map.groupBy(rows, ({ comment }) => comment);
  for (const [comment, respondedId] of creations) {
    const made = byComment.get(comment) ?? [];
    // Holds without a response are released, and no code is sent for them.
    const real = made.filter(({ state, has_code }) => state !== 'cancelled' || has_code);
    const others = real.filter(({ id }) => id !== respondedId);
    const isKnown = respondedId !== undefined;
    const allowed = unknown.has(comment) ? 1 : 0;
    if (others.length > allowed) {
      violationCounts[isKnown || others.length > 1 ? 'doubled' : 'unrecorded'] += 1;
      reportViolation(`${comment} created ${others.map(({ id }) => id)}; the response named ${respondedId}`);
    }
    if (isKnown && !made.some(({ id }) => id === respondedId)) {
      violationCounts.lost += 1;
      reportViolation(`${comment} lost ${respondedId}`);
    }
  }
  count('comparisons with the database');
}

/** On Ctrl-C, checks and counts the work done so far. A second Ctrl-C prints the counts immediately. */
function stopEarly(): void {
  if (isStopping) {
    process.stdout.write('  aborted: nothing was compared\n');
    report();
    process.exit(1);
  }
  isStopping = true;
  process.stdout.write('  stopping early\n');
}

process.on('SIGINT', stopEarly);
process.on('SIGTERM', stopEarly);
await main();
