import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, type TestContext, test } from 'vitest';
import { type Database, openDatabase } from '../server/src/db/database.ts';
import { type Appointment, creationBody, oslo, riverside, type Slot, sodermalm } from './bookings.ts';
import { type ChildGateway, type ChildRequest, type ChildResponse, startChild } from './child-gateway.ts';
import { type Confirmation, codeIn, eventually, type Message } from './codes.ts';
import { createTestDatabase } from './database.ts';
import { findViolations } from './invariants.ts';

/*
 * Kills the gateway between a request and its response, restarts it and retries the request. `npm run test:crash-points`
 * covers every statement; otherwise a sample of the possible database states.
 */

const all = process.env.CRASH_POINTS === 'all';
const preload = new URL('kill-at.ts', import.meta.url);
const dayMilliseconds = 24 * 60 * 60 * 1000;

type Kind = 'postgresql' | 'pglite';
type Body = Appointment & { readonly appointments: Appointment[]; readonly reason?: string };
type AppointmentResponse = ChildResponse<Body>;

/** One gateway process at a time on one database, restarted after each crash. */
async function createWorld(kind: Kind, onTestFinished: TestContext['onTestFinished']) {
  const folder = await mkdtemp(join(inject('runFolder'), 'crash-'));
  const dataDir = join(folder, 'data');
  const postgres = kind === 'postgresql' ? await createTestDatabase(kind) : undefined;
  let child = await start();
  const slotLists = new Map<string, Slot[]>();

  function start(variables: Record<string, string> = {}): Promise<ChildGateway> {
    return startChild({ dataDir, databaseUrl: postgres?.url, preload, variables });
  }

  async function send(request: ChildRequest): Promise<AppointmentResponse> {
    const response = await child.send<Body>(request);
    if (!response) throw new Error('The gateway process ended');
    return response;
  }

  async function done(request: ChildRequest): Promise<AppointmentResponse> {
    const response = await send(request);
    if (response.status >= 300) throw new Error(`${request.method} ${request.path}: ${response.text}`);
    return response;
  }

  const world = {
    send,
    done,
    /** Sends a request that kills the gateway, and restarts the gateway. Returns `false` if the request got a response. */
    async crashDuring(request: ChildRequest): Promise<boolean> {
      const response = await child.send<Body>(request);
      if (response) return false;
      await world.restart();
      return true;
    },
    async restart(variables?: Record<string, string>): Promise<void> {
      await child.kill();
      // As if the lease had expired.
      if (postgres)
        await query(
          postgres.database,
          'UPDATE operations SET lease_token = NULL, lease_expires_at = NULL, next_attempt_at = CASE WHEN next_attempt_at IS NOT NULL THEN now() END',
        );
      child = await start(variables);
    },
    async ended(): Promise<void> {
      await child.ended;
    },
    /** Retries the request while another process holds its lease. */
    async settled(request: ChildRequest): Promise<AppointmentResponse> {
      for (;;) {
        const response = await send(request);
        if (response.body.reason !== 'idempotency_in_progress') return response;
        await sleep(50);
      }
    },
    /** Consecutive free slots that were not used before. */
    async take(careUnit: string, resourceId: string, count: number): Promise<Slot[]> {
      const name = `${careUnit} ${resourceId}`;
      const slots = slotLists.get(name) ?? (await list(careUnit, resourceId));
      slotLists.set(name, slots);
      for (;;) {
        const run = slots.slice(0, count);
        if (run.length < count) throw new Error('No free slots left');
        const isRun = run.every((slot, index) => index === 0 || run[index - 1]?.end === slot.start);
        slots.splice(0, isRun ? count : 1);
        if (isRun) return run;
      }
    },
    async get(careUnit: string, id: string): Promise<Appointment> {
      return (await done({ method: 'GET', path: `${careUnit}/appointments/${id}` })).body;
    },
    /** Backdates the code of a confirmation so that a resend is allowed. */
    async allowResend(confirmationId: string): Promise<void> {
      const sql = `UPDATE confirmations SET last_code_sent_at = last_code_sent_at - interval '31 seconds' WHERE id = $1`;
      if (postgres) await query(postgres.database, sql, [confirmationId]);
      else await whileStopped((database) => query(database, sql, [confirmationId]));
    },
    /** The appointments that occupy any of the time. */
    async at(careUnit: string, first: Slot, last: Slot = first): Promise<Appointment[]> {
      const range = new URLSearchParams({ resource_id: first.resource_id, start: first.start, end: last.end });
      const path = `${careUnit}/appointments?${range}&status=booked&status=awaiting_confirmation`;
      return (await done({ method: 'GET', path })).body.appointments;
    },
    async messages(): Promise<readonly Message[]> {
      const { body } = await done({ method: 'GET', path: '/demo/messages', headers: { accept: 'application/json' } });
      return (body as unknown as { messages: Message[] }).messages;
    },
    /** Waits for the only message about an appointment and returns its code. */
    async codeFor(id: string): Promise<string> {
      const [code] = await world.codesFor(id, 1);
      return code as string;
    },
    /** Waits for exactly `count` messages about an appointment and returns their codes, newest first. */
    codesFor(id: string, count: number): Promise<readonly string[]> {
      return eventually(async () => {
        const found = (await world.messages()).filter((it) => it.appointment_id === id);
        expect(found).toHaveLength(count);
        return found.map((message) => codeIn(message));
      });
    },
    /** Waits until no operation or background job is pending. */
    async violations(): Promise<Record<string, unknown[]>> {
      for (let look = 1; ; look++) {
        const found = await violationsNow();
        if (look === 24 || Object.keys(found).length === 0) return found;
        // A job of a crashed process is retried within half a minute.
        await sleep(5_000);
      }
    },
    async dispose(): Promise<void> {
      await child.kill();
      await postgres?.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
  onTestFinished(world.dispose);
  return world;

  async function violationsNow(): Promise<Record<string, unknown[]>> {
    return postgres ? findViolations(postgres.database) : whileStopped(findViolations);
  }

  /** Only one process can open the embedded database. */
  async function whileStopped<Result>(look: (database: Database) => Promise<Result>): Promise<Result> {
    await child.kill();
    const database = await openDatabase({ dataDir });
    const found = await look(database).finally(() => database.close());
    child = await start();
    return found;
  }

  async function query({ pool }: Database, sql: string, values: readonly unknown[] = []): Promise<void> {
    const client = await pool.connect();
    await client.query(sql, values);
    client.release();
  }

  async function list(careUnit: string, resourceId: string): Promise<Slot[]> {
    const slots: Slot[] = [];
    const from = Date.now() + 7 * dayMilliseconds;
    const query = new URLSearchParams({
      start: new Date(from).toISOString(),
      end: new Date(from + 50 * dayMilliseconds).toISOString(),
      resource_id: resourceId,
      healthcare_service_id: 'consultation',
      limit: '100',
    });
    for (let cursor: string | null = ''; cursor !== null; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const { body } = await done({ method: 'GET', path: `${careUnit}/timeslots?${query}` });
      const page = body as unknown as { timeslots: Slot[]; next_cursor: string | null };
      slots.push(...page.timeslots);
      cursor = page.next_cursor;
    }
    return slots;
  }
}

type World = Awaited<ReturnType<typeof createWorld>>;

const create = (careUnit: string, slot: Slot): ChildRequest => ({
  method: 'POST',
  path: `${careUnit}/appointments`,
  body: creationBody(slot),
});
const change = (careUnit: string, id: string, body: object): ChildRequest => ({
  method: 'PATCH',
  path: `${careUnit}/appointments/${id}`,
  body,
});
const changeMany = (careUnit: string, ids: readonly string[], body: object): ChildRequest => ({
  method: 'PATCH',
  path: `${careUnit}/appointments`,
  body: { ids, ...body },
});

async function book(world: World, careUnit: string, slot: Slot): Promise<string> {
  const { id } = (await world.done(create(careUnit, slot))).body;
  if (careUnit !== sodermalm) return id;
  await world.done(change(careUnit, id, { confirmation: { code: await world.codeFor(id) } }));
  return id;
}

/** One request, with its preparation and the expected state after it. */
interface Case {
  readonly request: ChildRequest;
  readonly status: number;
  /** Checks the state after the response; `isAlone` if nothing else happened since `prepare`. */
  expectDone(response: AppointmentResponse, isAlone: boolean): Promise<void>;
  /** Checks the state if the client does not retry. */
  expectDoneWithoutRetry(): Promise<void>;
  expectNothingDone(): Promise<void>;
}

interface Operation {
  readonly name: string;
  /** The statement after which no client retry is needed: it stores the intent, or it is the last one. */
  readonly completesAfter: 'intent' | 'end';
  /** Only every n-th database state is tested, unless `CRASH_POINTS` is `all`. */
  readonly every: number;
  prepare(world: World): Promise<Case>;
}

const schedulesPath = `${oslo}/resources/emr_id%3Ar-1/schedules`;

interface Schedule {
  readonly id: string;
  readonly start: string;
  readonly ends_at: string | null;
  readonly exceptions: readonly object[];
}

let scheduledDays = 0;

/** The evening of another day for each schedule. */
function scheduleCreation() {
  const day = new Date(Date.now() + (60 + ++scheduledDays) * dayMilliseconds).toISOString().slice(0, 10);
  return {
    start_time: `${day}T18:00:00`,
    end_time: `${day}T19:00:00`,
    slot_minutes: 30,
    healthcare_service_ids: ['consultation'],
  };
}

const isSame = (start: string | null, local: string) => start?.startsWith(local) === true;

async function schedulesOf(world: World): Promise<readonly Schedule[]> {
  const { body } = await world.done({ method: 'GET', path: `${schedulesPath}?limit=500` });
  return (body as unknown as { schedules: Schedule[] }).schedules;
}

/** Changes a new schedule. */
async function scheduleChange(
  world: World,
  kind: 'end' | 'exceptions',
  bodyOn: (day: string) => object,
  isDone: (schedule: Schedule) => boolean,
): Promise<Case> {
  const creation = scheduleCreation();
  const { id } = (await world.done({ method: 'POST', path: schedulesPath, body: creation })).body;
  const now = async () => {
    const [schedule] = (await schedulesOf(world)).filter((it) => it.id === id);
    if (!schedule) throw new Error('The schedule is not there any more');
    return schedule;
  };
  return {
    request: { method: 'POST', path: `${schedulesPath}/${id}/${kind}`, body: bodyOn(creation.start_time.slice(0, 10)) },
    status: 200,
    async expectDone({ body }) {
      expect(await now()).toEqual(body);
      expect(isDone(await now())).toBe(true);
    },
    expectDoneWithoutRetry: async () => expect(isDone(await now())).toBe(true),
    expectNothingDone: async () => expect(isDone(await now())).toBe(false),
  };
}

const operations: Operation[] = [
  {
    name: 'a booking',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(oslo, 'r-1', 1)) as [Slot];
      return {
        request: create(oslo, slot),
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${oslo}/appointments/${body.id}`);
          expect(await world.at(oslo, slot)).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await world.at(oslo, slot)).toMatchObject([{ status: 'booked' }]),
        expectNothingDone: async () => expect(await world.at(oslo, slot)).toEqual([]),
      };
    },
  },
  {
    name: 'a medical note',
    completesAfter: 'intent',
    every: 1,
    async prepare(world) {
      const path = `${oslo}/patients/emr_id%3Ap-3/medical-notes`;
      const text = `Note ${randomUUID()}`;
      const notes = async () => {
        const { body } = await world.done({ method: 'GET', path });
        const { medical_notes } = body as unknown as { medical_notes: { id: string; text: string }[] };
        return medical_notes.filter((note) => note.text === text);
      };
      return {
        request: { method: 'POST', path, body: { text, author_id: 'r-1' } },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${path}/${body.id}`);
          expect(await notes()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await notes()).toHaveLength(1),
        expectNothingDone: async () => expect(await notes()).toEqual([]),
      };
    },
  },
  {
    name: 'a document',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const path = `${oslo}/patients/emr_id%3Ap-3/documents`;
      const title = `Document ${randomUUID()}`;
      const documents = async () => {
        const { body } = await world.done({ method: 'GET', path });
        return (body as unknown as { documents: { id: string; title: string }[] }).documents.filter(
          (it) => it.title === title,
        );
      };
      const content = Buffer.from(title).toString('base64');
      return {
        request: { method: 'POST', path, body: { title, content_type: 'text/plain', content } },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${path}/${body.id}`);
          expect(await documents()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await documents()).toHaveLength(1),
        expectNothingDone: async () => expect(await documents()).toEqual([]),
      };
    },
  },
  {
    name: 'a schedule',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const creation = scheduleCreation();
      const found = async () => (await schedulesOf(world)).filter((it) => isSame(it.start, creation.start_time));
      return {
        request: { method: 'POST', path: schedulesPath, body: creation },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${schedulesPath}/${body.id}`);
          expect(await found()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await found()).toHaveLength(1),
        expectNothingDone: async () => expect(await found()).toEqual([]),
      };
    },
  },
  {
    name: 'an end of a schedule',
    completesAfter: 'intent',
    every: 2,
    prepare: (world) =>
      scheduleChange(
        world,
        'end',
        (day) => ({ end_time: `${day}T18:00:00` }),
        ({ ends_at }) => ends_at !== null,
      ),
  },
  {
    name: 'an exception of a schedule',
    completesAfter: 'intent',
    every: 2,
    prepare: (world) =>
      scheduleChange(
        world,
        'exceptions',
        (day) => ({ start_time: `${day}T18:30:00`, end_time: `${day}T19:00:00` }),
        ({ exceptions }) => exceptions.length === 1,
      ),
  },
  {
    name: 'a booking by code',
    completesAfter: 'end',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const before = (await world.messages()).length;
      return {
        request: create(sodermalm, slot),
        status: 201,
        async expectDone({ body }, isAlone) {
          expect(body.status).toBe('awaiting_confirmation');
          const code = await world.codeFor(body.id);
          if (isAlone) expect(await world.messages()).toHaveLength(before + 1);
          expect(await world.at(sodermalm, slot)).toMatchObject([{ id: body.id }]);
          const confirmed = await world.done(change(sodermalm, body.id, { confirmation: { code } }));
          expect(confirmed.body.status).toBe('booked');
        },
        async expectDoneWithoutRetry() {
          const [held, ...more] = await world.at(sodermalm, slot);
          expect([held?.status, more]).toEqual(['awaiting_confirmation', []]);
          await world.codeFor(held?.id ?? '');
        },
        expectNothingDone: async () => expect(await world.at(sodermalm, slot)).toEqual([]),
      };
    },
  },
  {
    name: 'a confirmation',
    completesAfter: 'intent',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const { id } = (await world.done(create(sodermalm, slot))).body;
      const request = change(sodermalm, id, { confirmation: { code: await world.codeFor(id) } });
      const expectBooked = async () => {
        expect(await world.at(sodermalm, slot)).toMatchObject([{ id, status: 'booked', confirmation: null }]);
        await world.codeFor(id);
      };
      return {
        request,
        status: 200,
        expectDone: expectBooked,
        expectDoneWithoutRetry: expectBooked,
        async expectNothingDone() {
          const appointment = await world.get(sodermalm, id);
          expect(appointment.status).toBe('awaiting_confirmation');
          expect((appointment.confirmation as Confirmation).attempts_remaining).toBe(5);
        },
      };
    },
  },
  {
    name: 'a resend',
    completesAfter: 'end',
    every: 1,
    async prepare(world) {
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const { id, confirmation } = (await world.done(create(sodermalm, slot))).body;
      await world.codesFor(id, 1);
      await world.allowResend((confirmation as Confirmation).id);
      return {
        request: { method: 'POST', path: `${sodermalm}/appointments/${id}/confirmation` },
        status: 202,
        async expectDone({ body }) {
          expect(body).toMatchObject({ id, status: 'awaiting_confirmation' });
          const [code] = await world.codesFor(id, 2);
          const confirmed = await world.done(change(sodermalm, id, { confirmation: { code } }));
          expect(confirmed.body.status).toBe('booked');
        },
        expectDoneWithoutRetry: async () => void (await world.codesFor(id, 2)),
        async expectNothingDone() {
          await world.codesFor(id, 1);
          expect(await world.at(sodermalm, slot)).toMatchObject([{ id, status: 'awaiting_confirmation' }]);
        },
      };
    },
  },
  {
    name: 'a cancellation',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(oslo, 'r-1', 1)) as [Slot];
      const id = await book(world, oslo, slot);
      const expectCancelled = async () => {
        expect((await world.get(oslo, id)).status).toBe('cancelled');
        expect(await world.at(oslo, slot)).toEqual([]);
      };
      return {
        request: change(oslo, id, { status: 'cancelled' }),
        status: 200,
        expectDone: expectCancelled,
        expectDoneWithoutRetry: expectCancelled,
        expectNothingDone: async () => expect(await world.at(oslo, slot)).toMatchObject([{ id, status: 'booked' }]),
      };
    },
  },
  {
    name: 'the first step of a two-step cancellation',
    completesAfter: 'end',
    every: 2,
    async prepare(world) {
      const [slot] = (await world.take(riverside, 'r-1', 1)) as [Slot];
      const id = await book(world, riverside, slot);
      const before = (await world.messages()).length;
      const expectBooked = async () =>
        expect(await world.get(riverside, id)).toMatchObject({ status: 'booked', confirmation: null });
      const request = change(riverside, id, { status: 'cancelled' });
      return {
        request,
        status: 200,
        async expectDone({ body }, isAlone) {
          expect(body).toMatchObject({ status: 'awaiting_confirmation', replaces_id: id });
          await world.codeFor(body.id);
          if (isAlone) expect(await world.messages()).toHaveLength(before + 1);
          await expectBooked();
          expect((await world.done(request)).body.id).toBe(body.id);
        },
        async expectDoneWithoutRetry() {
          await expectBooked();
          await eventually(async () => expect((await world.messages()).length).toBeGreaterThan(before));
        },
        expectNothingDone: expectBooked,
      };
    },
  },
  {
    name: 'a bulk move',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const [first, second] = (await world.take(oslo, 'r-3', 2)) as [Slot, Slot];
      const ids = [await book(world, oslo, first), await book(world, oslo, second)];
      const toFourth = (slot: Slot) => ({ ...slot, resource_id: 'emr_id:r-4' });
      const expectAt = (move: (slot: Slot) => Slot) => async () =>
        expect((await world.at(oslo, move(first), move(second))).map(({ id }) => id)).toEqual(ids);
      return {
        request: changeMany(oslo, ids, { resource_id: 'r-4' }),
        status: 200,
        expectDone: expectAt(toFourth),
        expectDoneWithoutRetry: expectAt(toFourth),
        expectNothingDone: expectAt((slot) => slot),
      };
    },
  },
  {
    name: 'a reschedule to consecutive slots',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const run = await world.take(oslo, 'r-2', 4);
      const [first, second, , last] = run as [Slot, Slot, Slot, Slot];
      const ids = [await book(world, oslo, first), await book(world, oslo, second)];
      const expectStarts = async (slots: readonly Slot[]) => {
        const found = await world.at(oslo, first, last);
        expect(found.map(({ start }) => start)).toEqual(slots.map(({ start }) => start));
        expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      };
      return {
        request: changeMany(oslo, ids, { start: second.start, end: last.end }),
        status: 200,
        async expectDone({ body }) {
          expect(body.appointments).toEqual(await world.at(oslo, first, last));
          await expectStarts(run.slice(1));
        },
        expectDoneWithoutRetry: () => expectStarts(run.slice(1)),
        expectNothingDone: () => expectStarts(run.slice(0, 2)),
      };
    },
  },
];

/** Where the process is killed, and how many statements it has executed by then. */
interface Point {
  readonly killAt: string;
  readonly executed: number;
}

function pointsOf({ length }: readonly string[]): Point[] {
  const steps = Array.from({ length }, (_, index) => index + 1);
  return [
    ...steps.flatMap((step) => [
      { killAt: `before ${step}`, executed: step - 1 },
      { killAt: `after ${step}`, executed: step },
    ]),
    { killAt: 'response', executed: length },
  ];
}

/** One crash point for each distinct database state. Uncommitted transactions do not change the state. */
function statesOf(statements: readonly string[]): Point[] {
  let isInTransaction = false;
  const points = statements.flatMap((text, index): Point[] => {
    const step = index + 1;
    if (text === 'begin') isInTransaction = true;
    if (text === 'commit') {
      isInTransaction = false;
      return [
        { killAt: `before ${step}`, executed: index },
        { killAt: `after ${step}`, executed: step },
      ];
    }
    return isInTransaction || /^select (?!sandbox\.write_)/i.test(text)
      ? []
      : [{ killAt: `after ${step}`, executed: step }];
  });
  return [
    { killAt: 'before 1', executed: 0 },
    ...points.slice(0, -1),
    { killAt: 'response', executed: statements.length },
  ];
}

/** Every n-th item, or the last if there are fewer. */
function someOf<T>(items: readonly T[], every: number): readonly T[] {
  const some = items.filter((_, index) => index % every === every - 1);
  return some.length > 0 ? some : items.slice(-1);
}

/** The number of statements after which the operation completes without a client retry. */
function doneAfter(statements: readonly string[], from: Operation['completesAfter']): number {
  if (from === 'end') return statements.lastIndexOf('commit') + 1;
  const intent = statements.findIndex((text) => /^(INSERT INTO operations|update "operations" set "kind")/.test(text));
  if (intent === -1) throw new Error(`None of these statements stores a plan: ${statements.join('; ')}`);
  const isInTransaction = statements.lastIndexOf('begin', intent) > statements.lastIndexOf('commit', intent);
  return (isInTransaction ? statements.indexOf('commit', intent) : intent) + 1;
}

function underKey(request: ChildRequest, key: string, killAt?: string): ChildRequest {
  return { ...request, headers: { 'idempotency-key': key, ...(killAt === undefined ? {} : { 'x-kill-at': killAt }) } };
}

function expectReplay(again: AppointmentResponse, first: AppointmentResponse): void {
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect(again.headers.get('idempotency-replayed')).toBe('true');
}

describe.each<{ kind: Kind; sampling: number }>([
  { kind: 'postgresql', sampling: 3 },
  { kind: 'pglite', sampling: 8 },
])('killed on $kind', { timeout: all ? 3_600_000 : 600_000 }, ({ kind, sampling }) => {
  /** A gateway start takes seconds, so a normal run covers only the requests with the most steps; `all` covers every request. */
  const sampled = {
    postgresql: ['a booking by code', 'a confirmation', 'a resend', 'a medical note', 'a document', 'a schedule'],
    pglite: ['a booking'],
  }[kind];
  const killed = operations.filter(({ name }) => all || sampled.includes(name));

  test.concurrent.for(killed)('$name is executed once', async ({ prepare, completesAfter, every }, context) => {
    const world = await createWorld(kind, context.onTestFinished);
    const dry = await prepare(world);
    const complete = await world.send(underKey(dry.request, randomUUID(), 'count'));
    expect([complete.status, complete.text]).toEqual([dry.status, expect.anything()]);
    await dry.expectDone(complete, true);
    const statements: string[] = JSON.parse(decodeURIComponent(complete.headers.get('x-statements') ?? ''));
    const points = all ? pointsOf(statements) : someOf(statesOf(statements), every * sampling);

    for (const { killAt } of points) {
      const it = await prepare(world);
      const key = randomUUID();
      expect({ killAt, died: await world.crashDuring(underKey(it.request, key, killAt)) }).toEqual({
        killAt,
        died: true,
      });
      const first = await world.settled(underKey(it.request, key));
      expect({ killAt, status: first.status, text: first.text }).toMatchObject({ killAt, status: it.status });
      await it.expectDone(first, true);
      expectReplay(await world.send(underKey(it.request, key)), first);
    }

    const from = doneAfter(statements, completesAfter);
    const left: { readonly it: Case; readonly key: string; readonly point: Point }[] = [];
    for (const point of all ? points : someOf(points, 3)) {
      const it = await prepare(world);
      const key = randomUUID();
      expect(await world.crashDuring(underKey(it.request, key, point.killAt))).toBe(true);
      left.push({ it, key, point });
    }
    for (const { it, point } of left) {
      const expectIt = point.executed >= from ? it.expectDoneWithoutRetry : it.expectNothingDone;
      await eventually(expectIt).catch((error) => {
        throw new Error(`Killed ${point.killAt} of ${statements.length}, without a client retry`, { cause: error });
      });
    }
    // A final retry finds the idempotency key released and the result of the operation.
    for (const { it, key } of left) {
      const first = await world.settled(underKey(it.request, key));
      expect(first.status).toBe(it.status);
      await it.expectDone(first, false);
    }
    expect(await world.violations()).toEqual({});
  });

  if (!all && kind === 'pglite') return;
  test.concurrent('a crash during message delivery delivers the code once', async (context) => {
    const world = await createWorld(kind, context.onTestFinished);
    const steps = ['before 1', 'after 1', 'before 2', 'after 2', 'before 3', 'after 3'];
    for (const step of all ? steps : someOf(steps, 2 * sampling)) {
      await world.restart({ KILL_DELIVERY: step });
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const key = randomUUID();
      // The process may end before it responds.
      const request = underKey(create(sodermalm, slot), key);
      await world.send(request).catch(() => undefined);
      await world.ended();
      await world.restart();
      const { body } = await world.settled(request);
      const code = await world.codeFor(body.id);
      await world.done(change(sodermalm, body.id, { confirmation: { code } }));
      await world.codeFor(body.id);
    }
    expect(await world.violations()).toEqual({});
  });
});
