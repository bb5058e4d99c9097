import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../server/src/db/database.ts';
import { oslo, riverside, type Slot, sodermalm } from './bookings.ts';
import { type ChildAnswer, type ChildGateway, type ChildRequest, startChild } from './child-gateway.ts';
import { createRunFolder, startPostgres } from './embedded-postgres.ts';
import { findViolations } from './invariants.ts';
import { writeQuickDemo } from './quick-demo.ts';

/*
 * Kills the gateway at random moments under a load of bookings, moves, cancellations and confirmations over the three
 * sandbox EHRs, starts it again each time, and looks at the end whether what was answered is true.
 *
 *   node test/crash.ts [--kills 100] [--seed 1] [--database pglite|postgresql] [--gateways 1] [--faults]
 *
 * With several gateways, on PostgreSQL, one of them is killed at a time. With faults, the EHRs lose answers, stay away for
 * a while and finish late (faulty-sandbox.ts).
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
const atOnce = 12;
/** What an EHR shows nothing of is looked for somewhat longer. */
const restMs = options.faults ? 300_000 : 90_000;
const patienceMs = options.faults ? 120_000 : 30_000;
/** Longer than an EHR is late. */
const latestMs = options.faults ? 10_000 : 0;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Mulberry32. */
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
type Told = ChildAnswer<Appointment & { readonly reason?: string }>;

/** What is known of an appointment. Nobody but its own operations, one at a time, changes it. */
interface Known {
  readonly careUnit: string;
  readonly id: string;
  /** As the last answer said. */
  last: Appointment;
  /** The id under which a cancellation waits for its code. */
  cancellation: string | undefined;
  /** When the code that is awaited runs out. */
  expiresAt: number;
  isBusy: boolean;
}

/** A request without an answer. */
interface Unanswered {
  readonly request: ChildRequest;
  readonly known: Known | undefined;
  readonly slot: Slot | undefined;
}

const counts: Record<string, number> = {};
const count = (name: string) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const faults: string[] = [];
/** Bookings that were answered and are not there, that are there twice, and that nobody was told of. */
const tally = { lost: 0, doubled: 0, unrecorded: 0 };
const knowns: Known[] = [];
const creations = new Map<string, string | undefined>();
/** Those without a key whose caller was told that nobody knows, or nothing at all. */
const unknown = new Set<string>();
const abandoned: Unanswered[] = [];
const slots = new Map<string, Slot[]>();
/** Each, or the next process in its place as soon as that listens: whoever has no answer waits for it. */
const gateways: Promise<ChildGateway>[] = [];
let isOver = false;
let isCutShort = false;
let lastKill = Infinity;

async function sendOnce<Body = Told['body']>(request: ChildRequest): Promise<ChildAnswer<Body> | undefined> {
  const gateway = await pick(gateways);
  count('requests');
  return gateway.send(request);
}

/** Sends it until it is answered for good; now and then nobody asks again. */
async function settle(request: ChildRequest): Promise<Told | undefined> {
  for (let attempt = 1; ; attempt++) {
    const answer = await sendOnce(request);
    if (answer && answer.body.reason !== 'idempotency_in_progress' && answer.status < 500) {
      if (answer.headers.get('idempotency-replayed')) count('answered by a replay');
      return answer;
    }
    if (answer && answer.status >= 500) count(`answered ${answer.status}`);
    if (!answer && attempt === 1) count('broken off');
    if (!answer && random() < 0.2) return undefined;
    if (answer?.body.reason === 'outcome_unknown' && random() < 0.1) return undefined;
    await sleep(Math.min(50 * attempt, 500));
  }
}

async function perform(body: object, known?: Known, slot?: Slot): Promise<Told | undefined> {
  const careUnit = known?.careUnit ?? pick([oslo, sodermalm, riverside]);
  return performAt(careUnit, body, known?.cancellation ?? known?.id, known, slot);
}

async function performAt(
  careUnit: string,
  body: object,
  id: string | undefined,
  known: Known | undefined,
  slot: Slot | undefined,
): Promise<Told | undefined> {
  const request: ChildRequest = {
    method: id === undefined ? 'POST' : 'PATCH',
    path: `${careUnit}/appointments${id === undefined ? '' : `/${id}`}`,
    body,
    headers: { 'idempotency-key': randomUUID() },
  };
  const answer = await settle(request);
  if (!answer) abandoned.push({ request, known, slot });
  return answer;
}

/** Nobody asks again: what becomes of it is one thing or the other, once, unless the answer says that nothing was done. */
async function createWithoutKey(request: ChildRequest, comment: string): Promise<Told | undefined> {
  const answer = await sendOnce<Told['body']>(request);
  if (answer && answer.status < 500) return answer;
  count('without a key, and without an answer');
  if (!answer || answer.body.reason === 'outcome_unknown' || answer.body.reason === 'ehr_timeout') unknown.add(comment);
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
  const answer = isKeyed
    ? await performAt(careUnit, body, undefined, undefined, slot)
    : await createWithoutKey({ method: 'POST', path: `${careUnit}/appointments`, body }, comment);
  if (!answer) return;
  if (answer.status === 201) {
    count(`booked, ${answer.body.status}`);
    creations.set(comment, answer.body.id);
    knowns.push({
      careUnit,
      id: answer.body.id,
      last: answer.body,
      cancellation: undefined,
      expiresAt: expiryOf(answer.body),
      isBusy: false,
    });
  } else if (answer.body.reason === 'time_slot_unavailable') count('found no free time');
  else fault(`a booking was answered ${answer.text}`);
}

async function change(known: Known): Promise<void> {
  known.isBusy = true;
  const isAnswered = await changeOnce(known);
  // What nobody has asked for again may be one thing or the other.
  if (isAnswered) known.isBusy = false;
}

async function changeOnce(known: Known): Promise<boolean> {
  const { careUnit, last } = known;
  if (known.cancellation !== undefined || last.status === 'awaiting_confirmation') {
    const waiting = known.cancellation ?? known.id;
    if (random() < 0.1 && known.cancellation === undefined)
      return note(known, await perform({ status: 'cancelled' }, known), 'released');
    const code = await codeFor(waiting);
    if (code === undefined) return true;
    return note(known, await perform({ confirmation: { code } }, known), 'confirmed');
  }
  if (random() < 0.4) return note(known, await perform({ status: 'cancelled' }, known), 'cancelled');
  const slot = pick(slots.get(careUnit) ?? []);
  return note(
    known,
    await perform({ start: slot.start, end: slot.end, resource_id: slot.resource_id }, known, slot),
    'moved',
  );
}

function note(known: Known, answer: Told | undefined, word: string): boolean {
  if (!answer) return false;
  const { status, body } = answer;
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
  } else if (body.reason === 'confirmation_expired' && hasRunOut(known)) {
    count('found the code expired');
    if (known.cancellation === undefined) known.last = { ...known.last, status: 'cancelled' };
    known.cancellation = undefined;
  } else if (word === 'moved' && body.reason === 'time_slot_unavailable') count('found no free time');
  else fault(`${word} of ${known.id}: ${answer.text}`);
  return true;
}

const expiryOf = ({ confirmation }: Appointment) => (confirmation ? Date.parse(confirmation.expires_at) : Infinity);
const hasRunOut = ({ expiresAt }: Known) => Date.now() >= expiresAt;

interface Message {
  readonly appointment_id: string;
  readonly text: string;
}

/** One reading for all who wait. */
let mailbox: Promise<readonly Message[]> | undefined;
function readMailbox(): Promise<readonly Message[]> {
  mailbox ??= read().finally(() => {
    mailbox = undefined;
  });
  return mailbox;

  async function read(): Promise<readonly Message[]> {
    await sleep(200);
    const answer = await sendOnce({ method: 'GET', path: '/demo/messages', headers: { accept: 'application/json' } });
    return ((answer?.body ?? {}) as { messages?: Message[] }).messages ?? [];
  }
}

/** As soon as it has come: within a minute, once nobody is killed any more. */
async function codeFor(id: string): Promise<string | undefined> {
  while (Date.now() < lastKill + 60_000) {
    const about = (await readMailbox()).filter((it) => it.appointment_id === id);
    if (about.length > 1) fault(`${about.length} messages about ${id}`);
    const code = /(?<!\d)\d{6}(?!\d)/.exec(about[0]?.text ?? '')?.[0];
    if (code) return code;
  }
  fault(`no message about ${id}`);
  return undefined;
}

function fault(text: string): void {
  faults.push(text);
  process.stdout.write(`  ✗ ${text}\n`);
}

/** Those whose answer is overdue do not keep the others waiting. */
async function load(): Promise<void> {
  const running = new Set<Promise<void>>();
  while (!isOver) {
    await Promise.race(gateways);
    const idle = knowns.filter((it) => !it.isBusy && it.last.status !== 'cancelled');
    const work = idle.length < 30 || random() < 0.3 ? create() : change(pick(idle));
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
    const recent = sleep(1_500);
    while (running.size >= atOnce * 8) await Promise.race(running);
    if (running.size >= atOnce) await Promise.race([...running, recent]);
  }
  await Promise.all(running);
}

/** So many in each care unit that there are free ones until the end. */
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
      const answer = await sendOnce<SlotPage>({ method: 'GET', path: `${careUnit}/timeslots?${query}` });
      found.push(...(answer?.body.timeslots ?? []));
      cursor = answer?.body.next_cursor ?? null;
    }
    slots.set(careUnit, found);
  }
}

interface SlotPage {
  readonly timeslots: Slot[];
  readonly next_cursor: string | null;
}

/** Every answer against what is there. */
async function compare(): Promise<void> {
  for (const known of knowns) {
    const answer = await sendOnce({ method: 'GET', path: `${known.careUnit}/appointments/${known.id}` });
    const found = answer?.body;
    if (!found || answer.status !== 200) {
      fault(`lost: ${known.id} ${answer?.text}`);
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
    if (status === 'awaiting_confirmation' && hasRunOut(known)) allowed.push(`cancelled ${instant(start)}`);
    const now = `${found.status} ${instant(found.start)}`;
    if (!allowed.includes(now)) fault(`${known.id} is ${now}, not ${allowed.join(' or ')}`);
    else count('found as answered');
  }
}

const instant = (text: string) => new Date(text).toISOString();

interface Ground {
  readonly databaseUrl: string | undefined;
  stop(): Promise<void>;
}

async function prepareGround(folder: string): Promise<Ground> {
  if (options.database === 'pglite') return { databaseUrl: undefined, stop: async () => undefined };
  if (options.database !== 'postgresql') throw new Error('--database is pglite or postgresql');
  const server = await startPostgres(folder, true);
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
  const deadline = Date.now() + restMs;
  let left: unknown[] = [];
  do {
    left = await condition();
    if (left.length === 0) return;
    await sleep(1_000);
  } while (Date.now() < deadline);
  fault(`${name}: ${JSON.stringify(left.slice(0, 5))}`);
}

async function main(): Promise<void> {
  const folder = await createRunFolder();
  const ground = await prepareGround(folder);
  const dataDir = join(folder, 'gateway');
  const { databaseUrl } = ground;
  const preload = options.faults ? new URL('./faulty-sandbox.ts', import.meta.url) : undefined;
  const setup = await writeQuickDemo(folder);
  const start = () => startChild({ dataDir, databaseUrl, setup, ...(preload && { preload }) });
  process.stdout.write(`${kills} kills on ${options.database}, seed ${options.seed}\n`);
  const size = Number(options.gateways);
  if (size > 1 && databaseUrl === undefined) throw new Error('--gateways wants --database postgresql');
  try {
    for (let index = 0; index < size; index++) {
      gateways.push(start());
      // The first one makes what they share.
      await gateways[index];
    }
    await readSlots();
    const working = load();
    for (let kill = 1; kill <= kills && !isCutShort; kill++) {
      await sleep(50 + random() * 900);
      const victim = Math.floor(random() * size);
      const dead = gateways[victim]?.then((it) => it.kill());
      gateways[victim] = Promise.resolve(dead).then(start);
      count('kills');
      await gateways[victim];
      if (kill % 10 === 0) process.stdout.write(`  ${kill} kills, ${knowns.length} appointments\n`);
    }
    isOver = true;
    lastKill = Date.now();
    await working;
    process.stdout.write('  the load is over\n');
    await sleep(latestMs);
    await atRest(dataDir, databaseUrl, start);
    await compare();
    await askAtLast();
    await sleep(latestMs);
    await atRest(dataDir, databaseUrl, start);
    await compareCreations(dataDir, databaseUrl);
  } finally {
    await killAll();
    await ground.stop();
    await rm(folder, { recursive: true, force: true });
  }
  report();
}

function report(): void {
  const rows = Object.entries({ ...counts, 'never asked again': abandoned.length }).toSorted();
  for (const [name, number] of [...rows, ...Object.entries(tally), ['violations', faults.length]]) {
    process.stdout.write(`${String(number).padStart(7)}  ${name}\n`);
  }
  process.exitCode = faults.length > 0 ? 1 : 0;
}

/** What nobody asked for again is finished or given up, without anybody. */
async function atRest(dataDir: string, databaseUrl: string | undefined, start: () => Promise<ChildGateway>) {
  await until('not at rest', async () => {
    if (databaseUrl === undefined) {
      // The embedded database is looked at by one at a time: first it is given the time for a few rounds.
      await sleep(8_000);
      await killAll();
    }
    const database = await openDatabase({ databaseUrl, dataDir });
    const found = await findViolations(database).finally(() => database.close());
    if (databaseUrl === undefined) gateways[0] = start();
    return Object.entries(found);
  });
}

/** A key that was left open is free for its owner, and tells what was done. */
async function askAtLast(): Promise<void> {
  for (const { request, known, slot } of abandoned) {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answer = await sendOnce(request);
      if (answer && answer.body.reason !== 'idempotency_in_progress' && answer.status < 500) {
        const { comment } = (request.body ?? {}) as { comment?: string };
        if (!known && answer.status === 201 && comment) creations.set(comment, answer.body.id);
        const isExpected = answer.status < 300 || answer.body.reason === 'time_slot_unavailable';
        if (!isExpected && (slot || !known)) fault(`asked at last: ${answer.text}`);
        count('answered at last');
        break;
      }
      if (Date.now() > deadline) {
        fault(`a key is stuck: ${answer?.text}`);
        break;
      }
      await sleep(100);
    }
  }
}

/** One appointment for each key, and the answered one. */
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
  const keys = await client.query<{ state: string }>(
    `SELECT state FROM operations WHERE state <> 'done' AND sealed_plan IS NOT NULL`,
    [],
  );
  client.release();
  await database.close();
  if (keys.rows.length > 0) fault(`${keys.rows.length} keys are not settled`);
  const byComment = Map.groupBy(rows, ({ comment }) => comment);
  for (const [comment, answered] of creations) {
    const made = byComment.get(comment) ?? [];
    // Holds that nobody was told of are given up, and never had a code.
    const real = made.filter(({ state, has_code }) => state !== 'cancelled' || has_code);
    const others = real.filter(({ id }) => id !== answered);
    const isKnown = answered !== undefined;
    const allowed = unknown.has(comment) ? 1 : 0;
    if (others.length > allowed) {
      tally[isKnown || others.length > 1 ? 'doubled' : 'unrecorded'] += 1;
      fault(`${comment} made ${others.map(({ id }) => id)} beside what was answered: ${answered}`);
    }
    if (isKnown && !made.some(({ id }) => id === answered)) {
      tally.lost += 1;
      fault(`${comment} lost ${answered}`);
    }
  }
  count('database looked at');
}

/** What was done so far is looked at and counted all the same; whoever insists gets the counts at once. */
function cutShort(): void {
  if (isCutShort) {
    process.stdout.write('  broken off: nothing was compared\n');
    report();
    process.exit(1);
  }
  isCutShort = true;
  process.stdout.write('  cut short\n');
}

process.on('SIGINT', cutShort);
process.on('SIGTERM', cutShort);
await main();
