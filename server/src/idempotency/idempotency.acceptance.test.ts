import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  type Appointment,
  bergen,
  book,
  creationBody,
  freeRun,
  freeSlot,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/bookings.ts';
import { age, codeFor, codeIn, confirmationOf, messages, messagesAbout, rowsOf } from '../../../test/codes.ts';
import { type Answer, type Problem, type RequestOptions, startGateway } from '../../../test/gateway.ts';
import { anotherConnector } from '../../../test/other-ehrs.ts';
import { recoverWrites } from '../writes/recovery.ts';
import { answerOnce } from './answer-once.ts';
import { renameOperation } from './kept-write.ts';

/** How the EHR fails the next writes, in their order: before it has done them, or after. Releases are spared. */
type Failure = { readonly when: 'before' | 'after'; readonly error: Error; readonly gate?: Promise<void> };
const failures: Failure[] = [];

const fragile = anotherConnector((connector) => ({
  ...connector,
  async changeAppointments(write) {
    const failure = write.changes[0]?.kind === 'release' ? undefined : failures.shift();
    if (failure?.when === 'before') {
      await failure.gate;
      throw failure.error;
    }
    const done = await connector.changeAppointments?.(write);
    if (failure) throw failure.error;
    return done ?? [];
  },
}));

/** The EHR fails more often here than a breaker would stand. */
const gateway = await startGateway({
  connectors: [fragile],
  configure: (demo) => ({
    ...demo,
    emrs: demo.emrs.map((emr) => ({
      ...emr,
      connection: { ...emr.connection, breaker: { ...emr.connection.breaker, failures: 1000 } },
    })),
  }),
});
afterAll(() => gateway.close());
afterEach(() => {
  expect(failures.splice(0)).toEqual([]);
});

type Told = Answer<Appointment & Problem & { readonly appointments: Appointment[] }>;

let lastKey = 0;
const newKey = () => `key ${++lastKey} ~`;

interface Sent extends RequestOptions {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
}

function send({ method, path, ...options }: Sent, key: string | undefined): Promise<Told> {
  const headers = { 'idempotency-key': key, ...options.headers };
  return gateway.request(method, path, { ...options, headers });
}

const creation = (slot: Slot, careUnit = oslo): Sent => ({
  method: 'POST',
  path: `${careUnit}/appointments`,
  body: creationBody(slot),
});
const change = (id: string, body: object, careUnit = oslo): Sent => ({
  method: 'PATCH',
  path: `${careUnit}/appointments/${id}`,
  body,
});
const changeMany = (ids: readonly string[], body: object, careUnit = oslo): Sent => ({
  method: 'PATCH',
  path: `${careUnit}/appointments`,
  body: { ids, ...body },
});

function expectReplayed(again: Told, first: Told): void {
  expect(again.status).toBe(first.status);
  expect(again.text).toBe(first.text);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers.location).toBe(first.headers.location);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers['idempotency-replayed']).toBe('true');
}

/** Sends it three times with one key: done once, answered the same. */
async function sendThrice(request: Sent, status: number): Promise<Told> {
  const key = newKey();
  const first = await send(request, key);
  expect({ status: first.status, text: first.text }).toMatchObject({ status });
  for (let round = 0; round < 2; round++) expectReplayed(await send(request, key), first);
  return first;
}

/** Sends it until nobody else is at work on it. */
async function settled(request: Sent, key: string): Promise<Told> {
  for (;;) {
    const answer = await send(request, key);
    if (answer.status !== 409 || answer.body.reason !== 'idempotency_in_progress') return answer;
    expect(answer.headers['retry-after']).toBe('1');
    await sleep(20);
  }
}

/** What stands in the EHR at a time. */
async function at({ start, end, resource_id }: Slot, emr = 'sandbox-no') {
  const found = await gateway.ehr(emr).appointments();
  return found
    .filter((it) => `emr_id:${it.resourceId}` === resource_id && it.state !== 'cancelled')
    .filter((it) => it.start < new Date(end) && it.end > new Date(start))
    .map(({ id, state }) => ({ id, state }));
}

async function stored(id: string, careUnit = oslo): Promise<Appointment> {
  return (await gateway.request<Appointment>('GET', `${careUnit}/appointments/${id}`)).body;
}

describe('the same key and the same request get the first answer again', () => {
  test('a booking: 201 with its Location', async () => {
    const slot = await freeSlot(gateway);
    const { body, headers } = await sendThrice(creation(slot), 201);
    expect(headers.location).toBe(`${oslo}/appointments/${body.id}`);
    expect(await at(slot)).toEqual([{ id: body.id, state: 'booked' }]);
  });

  test('a booking that waits for a code, as it was then: one code', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const key = newKey();
    const request = creation(slot, sodermalm);
    const first = await send(request, key);
    expect(first).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    const code = await codeFor(gateway, first.body.id);
    expectReplayed(await send(request, key), first);
    await sendThrice(change(first.body.id, { confirmation: { code } }, sodermalm), 200);
    expectReplayed(await send(request, key), first);
    expect(await messagesAbout(gateway, first.body.id)).toHaveLength(1);
    expect((await stored(first.body.id, sodermalm)).status).toBe('booked');
  });

  test('a move, though the appointment has moved on', async () => {
    const { id } = await book(gateway);
    const [first, second] = (await freeRun(gateway, 2)) as [Slot, Slot];
    const key = newKey();
    const request = change(id, { start: first.start, end: first.end });
    const moved = await send(request, key);
    expect(moved.status).toBe(200);
    await send(change(id, { start: second.start, end: second.end }), undefined);
    expectReplayed(await send(request, key), moved);
    expect((await stored(id)).start).toBe(second.start);
  });

  test('a cancellation, direct and by code', async () => {
    await sendThrice(change((await book(gateway)).id, { status: 'cancelled' }), 200);
    const { id } = await book(gateway, { careUnit: riverside });
    const { body } = await sendThrice(change(id, { status: 'cancelled' }, riverside), 200);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', replaces_id: id });
    const code = await codeFor(gateway, body.id);
    await sendThrice(change(body.id, { confirmation: { code } }, riverside), 200);
    expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
    expect((await stored(id, riverside)).status).toBe('cancelled');
  });

  test('a change of many, and a continuous reschedule', async () => {
    const ids = [await book(gateway), await book(gateway)].map(({ id }) => id);
    await sendThrice(changeMany(ids, { comment: 'once' }), 200);
    const run = await freeRun(gateway, 3);
    const range = { start: run[0]?.start, end: run[2]?.end };
    const { body } = await sendThrice(changeMany(ids, range), 200);
    expect(body.appointments).toHaveLength(3);
    expect(await at({ ...run[0], end: run[2]?.end } as Slot)).toHaveLength(3);
    await sendThrice(
      changeMany(
        body.appointments.map(({ id }) => id),
        { status: 'cancelled' },
      ),
      200,
    );
  });

  test('many confirmed at once', async () => {
    const ids = [await book(gateway, { careUnit: riverside }), await book(gateway, { careUnit: riverside })].map(
      ({ id }) => id,
    );
    const { body } = await sendThrice(changeMany(ids, { status: 'cancelled' }, riverside), 200);
    const waiting = body.appointments.map(({ id }) => id);
    const code = await codeFor(gateway, waiting[0] ?? '');
    await sendThrice(changeMany(waiting, { confirmation: { code } }, riverside), 200);
  });

  test('a fresh code: 202, and one message', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    await messagesAbout(gateway, waiting.id);
    await age(gateway, confirmationOf(waiting).id, 60);
    await sendThrice({ method: 'POST', path: `${sodermalm}/appointments/${waiting.id}/confirmation` }, 202);
    expect(await messagesAbout(gateway, waiting.id, 2)).toHaveLength(2);
  });

  test('a refusal, word for word, though it would not be refused any more', async () => {
    const slot = await freeSlot(gateway);
    const { id } = await book(gateway, { slot });
    const key = newKey();
    const first = await send(creation(slot), key);
    expect(first).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    await send(change(id, { status: 'cancelled' }), undefined);
    expectReplayed(await send(creation(slot), key), first);
    expect(await at(slot)).toEqual([]);

    await sendThrice({ ...creation(slot), body: { ...creationBody(slot), patient_id: 'nobody' } }, 400);
    await sendThrice(change('nothing', { comment: 'x' }), 404);
    await sendThrice(change(id, { comment: 'x' }), 409);
    await sendThrice(changeMany(['nothing', id], { comment: 'x' }), 400);
    await sendThrice({ method: 'POST', path: `${oslo}/appointments/${id}/confirmation` }, 409);
  });

  test('a request that does not fit its schema', async () => {
    const { id } = await book(gateway);
    const slot = await freeSlot(gateway);
    const { resource_id: _, ...incomplete } = creationBody(slot);
    await sendThrice({ ...creation(slot), body: incomplete }, 400);
    await sendThrice({ ...creation(slot), path: `${oslo}/appointments?dry_run=perhaps` }, 400);
    await sendThrice(change(id, { status: 'booked' }), 400);
    await sendThrice(changeMany([], { comment: 'x' }), 400);
    await sendThrice({ method: 'POST', path: `${oslo}/appointments/${id}/confirmation?dry_run=no` }, 400);
    expect(await at(slot)).toEqual([]);

    const key = newKey();
    expect((await send({ ...creation(slot), body: incomplete }, key)).body.reason).toBe('request_invalid');
    expect(await send(creation(slot), key)).toMatchObject({ status: 422, body: { reason: 'idempotency_key_reused' } });
  });

  test('a wrong code costs one attempt', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    const right = await codeFor(gateway, waiting.id);
    const wrong = right === '000000' ? '111111' : '000000';
    const { body } = await sendThrice(change(waiting.id, { confirmation: { code: wrong } }, sodermalm), 400);
    expect(body).toMatchObject({ reason: 'confirmation_code_incorrect', attempts_remaining: 4 });
    expect(confirmationOf(await stored(waiting.id, sodermalm)).attempts_remaining).toBe(4);
  });
});

describe('the same key and another request are refused', () => {
  test('method, path, query, body, the value of a referenced header, the standard', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const by = (headers: Record<string, string | undefined> = {}): Sent => ({
      ...creation(slot),
      body: { ...creationBody(slot), patient_id: 'header:X-Patient' },
      headers: { 'x-patient': 'p-3', ...headers },
    });
    const first = await send(by(), key);
    expect(first.status).toBe(201);
    const others: Sent[] = [
      { ...by(), method: 'PATCH' as const, body: { ids: [first.body.id], comment: 'x' } },
      { ...by(), path: `${bergen}/appointments` },
      { ...by(), path: `${oslo}/appointments?dry_run=false` },
      { ...by(), body: { ...creationBody(slot), patient_id: 'header:X-Patient', comment: 'x' } },
      { ...by(), body: { ...creationBody(slot), patient_id: 'header:x-patient' } },
      { ...by(), body: { ...creationBody(slot), patient_id: 'p-3' } },
      by({ 'x-patient': 'p-4' }),
      by({ 'x-patient': 'emr_id:p-3' }),
      by({ 'x-patient': undefined }),
      by({ 'x-service-standard': 'native' }),
      change(first.body.id, { comment: 'x' }),
    ];
    for (const [index, other] of others.entries()) {
      const { status, body } = await send(other, key);
      expect({ index, status, reason: body.reason }).toEqual({ index, status: 422, reason: 'idempotency_key_reused' });
    }
    expect(await at(slot)).toHaveLength(1);
    // What is no part of the request is free to differ.
    expectReplayed(await send({ ...by(), headers: { 'x-patient': 'p-3', 'user-agent': 'another' } }, key), first);
  });

  test('while the first one is running, too', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    failures.push({ when: 'before', error: new ConnectorError('time_slot_unavailable', ''), gate });
    const slot = await freeSlot(gateway);
    const key = newKey();
    const first = send(creation(slot), key);
    await expect.poll(() => failures).toEqual([]);
    expect((await send({ ...creation(slot), body: { ...creationBody(slot), comment: 'x' } }, key)).body.reason).toBe(
      'idempotency_key_reused',
    );
    const meanwhile = await send(creation(slot), key);
    expect(meanwhile).toMatchObject({ status: 409, body: { reason: 'idempotency_in_progress' } });
    expect(meanwhile.headers['retry-after']).toBe('1');
    open();
    expect((await first).status).toBe(400);
    // The refusal of the second one is not what is kept.
    expectReplayed(await send(creation(slot), key), await first);
  });
});

describe('twenty at once', () => {
  test.each([
    ['a booking', oslo],
    ['a booking by code', sodermalm],
  ])('%s is done once', async (_, careUnit) => {
    const slot = await freeSlot(gateway, { careUnit });
    const key = newKey();
    const request = creation(slot, careUnit);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(request, key)));
    const [first, ...others] = answers.filter(
      ({ headers, status }) => status === 201 && !headers['idempotency-replayed'],
    );
    if (!first) throw new Error('Nobody was first');
    expect(others).toEqual([]);
    for (const answer of answers) {
      if (answer === first) continue;
      if (answer.status === 201) expectReplayed(answer, first);
      else expect(answer).toMatchObject({ status: 409, body: { reason: 'idempotency_in_progress' } });
    }
    expectReplayed(await send(request, key), first);
    expect(await at(slot, first.body.emr)).toHaveLength(1);
    if (careUnit === oslo) return;
    expect(await messagesAbout(gateway, first.body.id)).toHaveLength(1);
    const { id } = confirmationOf(first.body);
    expect(await rowsOf(gateway, 'SELECT id FROM messages WHERE confirmation_id = $1', [id])).toHaveLength(1);
  });
});

describe('access is looked at before anything is told again', () => {
  test('a wrong secret, a missing scope', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const { id } = gateway.credentials('appointments:write');
    const request = { ...creation(slot), client: 'appointments:write' as const };
    const first = await send(request, key);
    expect(first.status).toBe(201);
    const wrong = await send({ ...request, client: { id, secret: 'wrong' } }, key);
    expect(wrong).toMatchObject({ status: 401, body: { reason: 'credentials_invalid' } });
    const none = await send({ ...request, client: null }, key);
    expect(none.status).toBe(401);
    const scope = await send({ ...request, client: 'appointments:read' }, key);
    expect(scope).toMatchObject({ status: 403, body: { reason: 'scope_missing' } });
    for (const { headers } of [wrong, none, scope]) expect(headers['idempotency-replayed']).toBeUndefined();
    expectReplayed(await send(request, key), first);
  });

  test('keys are per client', async () => {
    const key = newKey();
    const [first, second] = (await freeRun(gateway, 2)) as [Slot, Slot];
    const mine = await send({ ...creation(first), client: 'everything' }, key);
    const theirs = await send({ ...creation(second), client: 'narrowed' }, key);
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.headers['idempotency-replayed']).toBeUndefined();
    expectReplayed(await send({ ...creation(first), client: 'everything' }, key), mine);
    expectReplayed(await send({ ...creation(second), client: 'narrowed' }, key), theirs);
  });
});

describe('what is not kept', () => {
  test('a refused access', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const { id } = gateway.credentials('everything');
    expect((await send({ ...creation(slot), client: { id, secret: 'wrong' } }, key)).status).toBe(401);
    expect((await send({ ...creation(slot), client: 'appointments:read' }, key)).status).toBe(403);
    const first = await send(creation(slot), key);
    expect(first.status).toBe(201);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
  });

  test('too early', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    await messagesAbout(gateway, waiting.id);
    const key = newKey();
    const request: Sent = { method: 'POST', path: `${sodermalm}/appointments/${waiting.id}/confirmation` };
    for (let round = 0; round < 2; round++) {
      const early = await send(request, key);
      expect(early).toMatchObject({ status: 429, body: { reason: 'rate_limited' } });
      expect(early.headers['idempotency-replayed']).toBeUndefined();
    }
    await age(gateway, confirmationOf(waiting).id, 60);
    const first = await send(request, key);
    expect(first.status).toBe(202);
    expectReplayed(await send(request, key), first);
  });

  test('a body that is nested too deeply to tell it from another', async () => {
    const key = newKey();
    const slot = await freeSlot(gateway);
    const nested = { ...creation(slot), body: `{"comment":${'['.repeat(50_000)}1${']'.repeat(50_000)}}` };
    for (let round = 0; round < 2; round++) {
      const { status, body, headers } = await send(nested, key);
      expect([status, body.reason, headers['idempotency-replayed']]).toEqual([400, 'request_invalid', undefined]);
    }
    expect((await send(creation(slot), key)).status).toBe(201);
  });

  test('a dry run', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const dry = { ...creation(slot), path: `${oslo}/appointments?dry_run=true` };
    for (let round = 0; round < 2; round++) {
      const { status, headers } = await send(dry, key);
      expect([status, headers['idempotency-replayed']]).toEqual([200, undefined]);
    }
    const invalid = { ...dry, body: { ...creationBody(slot), resource_id: 1 } };
    expect(await send(invalid, key)).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    const first = await send(creation(slot), key);
    expect(first.status).toBe(201);
    const after = await send(dry, key);
    expect(after).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    expectReplayed(await send(creation(slot), key), first);
  });
});

describe('a malformed key', () => {
  test.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['a tab', 'a\tb'],
    ['not ASCII', 'nøkkel'],
  ])('%s', async (_, key) => {
    const { id } = await book(gateway);
    const before = await stored(id);
    const latin1 = Buffer.from(key).toString('latin1');
    const slot = await freeSlot(gateway);
    for (const request of [
      creation(slot),
      change(id, { comment: 'no' }),
      changeMany([id], { comment: 'no' }),
      { method: 'POST', path: `${oslo}/appointments/${id}/confirmation` } as const,
      { ...creation(slot), path: `${oslo}/appointments?dry_run=true` },
      { ...change(id, { comment: 'no' }), path: `${oslo}/appointments/${id}?dry_run=true` },
    ]) {
      expect(await send(request, latin1)).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ header: 'idempotency-key', reason: 'request_invalid' }] },
      });
    }
    expect(await stored(id)).toEqual(before);
    expect(await at(slot)).toEqual([]);
  });

  test('the longest and the shortest one are taken', async () => {
    const { id } = await book(gateway);
    for (const key of ['~', ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'.trim(), 'k'.repeat(255)]) {
      const first = await send(change(id, { comment: 'yes' }), key);
      expect(first.status).toBe(200);
      expectReplayed(await send(change(id, { comment: 'yes' }), key), first);
    }
  });
});

test('a request that has become another operation is still the first one until it is answered', async () => {
  const { services } = gateway.deps;
  const request = {
    clientId: 'everything',
    emr: 'sandbox-no',
    careUnitId: 'oslo-sentrum',
    requestId: 'r',
    key: newKey(),
    fingerprint: '',
  };
  const renamed = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<never>();
  const first = answerOnce(services, request, async (write) => {
    await services.db.transaction().execute((tx) => renameOperation(tx, write, randomUUID()));
    renamed.resolve();
    return gate.promise;
  });
  await renamed.promise;
  const again = () => answerOnce(services, request, async () => ({ body: {} }));
  await expect(again()).rejects.toMatchObject({ reason: 'idempotency_in_progress' });
  gate.reject(new ConnectorError('unavailable', '?'));
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await again()).toEqual({ body: {} });
});

test('after a day a key is new', async () => {
  const [first, second] = (await freeRun(gateway, 2)) as [Slot, Slot];
  const key = newKey();
  const { body } = await send(creation(first), key);
  const rows = await rowsOf<{ operation_id: string }>(
    gateway,
    'SELECT operation_id FROM idempotency_keys ORDER BY created_at DESC LIMIT 1',
  );
  const letPass = (interval: string) =>
    rowsOf(
      gateway,
      `UPDATE idempotency_keys SET created_at = created_at - interval '${interval}' WHERE operation_id = $1`,
      [rows[0]?.operation_id],
    );
  await letPass('23 hours 59 minutes');
  expect((await send(creation(first), key)).headers['idempotency-replayed']).toBe('true');
  expect((await send(creation(second), key)).status).toBe(422);
  await letPass('1 minute');
  const other = await send(creation(second), key);
  expect(other.status).toBe(201);
  expect(other.headers['idempotency-replayed']).toBeUndefined();
  expect(other.body.id).not.toBe(body.id);
  expectReplayed(await send(creation(second), key), other);
});

describe('after a failure the key stays open, and a retry finishes', () => {
  const errors: [string, Failure['when'], Error, number][] = [
    ['the EHR is down', 'before', new ConnectorError('unavailable', 'down'), 503],
    ['the outcome is not known, and it is not done', 'before', new ConnectorError('outcome_unknown', '?'), 504],
    ['the outcome is not known, and it is done', 'after', new ConnectorError('outcome_unknown', '?'), 504],
    ['a bug, before', 'before', new TypeError('oh'), 500],
    ['a bug, after', 'after', new TypeError('oh'), 500],
  ];

  test.each(errors)('a booking: %s', async (_, when, error, status) => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    failures.push({ when, error });
    const failed = await send(creation(slot), key);
    expect(failed.status).toBe(status);
    const first = await settled(creation(slot), key);
    expect(first.status).toBe(201);
    expectReplayed(await send(creation(slot), key), {
      ...first,
      headers: { ...first.headers, 'idempotency-replayed': undefined },
    } as Told);
    expect(await at(slot)).toEqual([{ id: first.body.id, state: 'booked' }]);
  });

  test('the very next retry does', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    for (let round = 0; round < 3; round++) {
      failures.push({ when: 'after', error: new ConnectorError('outcome_unknown', '?') });
      expect((await send(creation(slot), key)).status).toBe(504);
    }
    const first = await send(creation(slot), key);
    expect(first.status).toBe(201);
    expect(await at(slot)).toEqual([{ id: first.body.id, state: 'booked' }]);
  });

  test.each(errors)('a booking by code: %s', async (_, when, error, status) => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const key = newKey();
    const before = (await messages(gateway)).length;
    failures.push({ when, error });
    expect((await send(creation(slot, sodermalm), key)).status).toBe(status);
    const first = await settled(creation(slot, sodermalm), key);
    expect(first).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    const [message, ...more] = await messagesAbout(gateway, first.body.id);
    expect(more).toEqual([]);
    expect(await messages(gateway)).toHaveLength(before + 1);
    expect(await at(slot, 'sandbox-se')).toEqual([{ id: first.body.id, state: 'held' }]);
    const confirmed = await send(
      change(first.body.id, { confirmation: { code: codeIn(message) } }, sodermalm),
      undefined,
    );
    expect(confirmed.body.status).toBe('booked');
  });

  test.each(errors)('a confirmation: %s', async (_, when, error, status) => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    const key = newKey();
    const request = change(waiting.id, { confirmation: { code: await codeFor(gateway, waiting.id) } }, sodermalm);
    failures.push({ when, error });
    expect((await send(request, key)).status).toBe(status);
    const first = await settled(request, key);
    expect(first).toMatchObject({ status: 200, body: { id: waiting.id, status: 'booked' } });
    expect((await stored(waiting.id, sodermalm)).status).toBe('booked');
  });

  test.each(errors)('a cancellation: %s', async (_, when, error, status) => {
    const { id } = await book(gateway);
    const key = newKey();
    failures.push({ when, error });
    expect((await send(change(id, { status: 'cancelled' }), key)).status).toBe(status);
    expect(await settled(change(id, { status: 'cancelled' }), key)).toMatchObject({
      status: 200,
      body: { id, status: 'cancelled' },
    });
  });

  test('without a key, what the EHR has done is put on record, and a hold that nobody was told of is given up', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const before = (await messages(gateway)).length;
    failures.push({ when: 'after', error: new ConnectorError('outcome_unknown', '?') });
    expect((await send(creation(slot, sodermalm), undefined)).status).toBe(504);
    expect(await at(slot, 'sandbox-se')).toHaveLength(1);
    await expect.poll(() => at(slot, 'sandbox-se')).toEqual([]);
    await expect.poll(() => rowsOf(gateway, 'SELECT 1 FROM writes')).toEqual([]);
    expect(await messages(gateway)).toHaveLength(before);
  });

  test('nobody is kept waiting by a retry that meets the recovery', async () => {
    const slots = await freeRun(gateway, 8, { careUnit: sodermalm, resourceId: 'r-2' });
    const before = (await messages(gateway)).length;
    const keys = slots.map(newKey);
    const sendAll = (how: typeof send) =>
      Promise.all(slots.map((slot, index) => how(creation(slot, sodermalm), keys[index] ?? '')));
    failures.push(...slots.map(() => ({ when: 'after' as const, error: new ConnectorError('outcome_unknown', '?') })));
    expect((await sendAll(send)).map(({ status }) => status)).toEqual(slots.map(() => 504));
    const { services, log } = gateway.deps;
    const [ends] = await Promise.all([
      sendAll((request, key) => settled(request, key ?? '')),
      recoverWrites(services, log),
      recoverWrites(services, log),
    ]);
    for (const [index, { status, body }] of ends.entries()) {
      expect(status).toBe(201);
      expect(await at(slots[index] as Slot, 'sandbox-se')).toEqual([{ id: body.id, state: 'held' }]);
      expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
    }
    expect(await messages(gateway)).toHaveLength(before + slots.length);
  });
});

test('keys, requests and answers are nowhere in the clear', async () => {
  const canaries = {
    key: 'kanari-key-51b7',
    comment: 'kanari-comment-90aa',
    header: 'kanari-header-77ce',
    patient: '15859000026',
  };
  const slot = await freeSlot(gateway);
  const first = await send(
    {
      ...creation(slot),
      body: { ...creationBody(slot), patient_id: 'header:x-patient', comment: canaries.comment },
      headers: { 'x-patient': `no_personal_number:${canaries.patient}` },
    },
    canaries.key,
  );
  expect(first.status).toBe(201);
  const refusal = await send(
    {
      ...creation(slot),
      body: { ...creationBody(slot), patient_id: 'header:x-patient', comment: canaries.comment },
      headers: { 'x-patient': canaries.header },
    },
    `${canaries.key} again`,
  );
  expect(refusal.status).toBe(400);
  const { id } = await book(gateway);
  failures.push({ when: 'before', error: new ConnectorError('outcome_unknown', '?') });
  const failing = change(id, { comment: canaries.comment });
  expect((await send(failing, `${canaries.key} once more`)).status).toBe(504);
  const dump = await dumpOf();
  expect(dump.get('public.idempotency_keys')).toMatch(/done/);
  expect(dump.get('public.writes')).toMatch(/unknown/);
  for (const [table, text] of dump) {
    // The sandbox is an EHR: a comment belongs there.
    const isEhr = table.startsWith('sandbox.');
    for (const [name, canary] of Object.entries(canaries)) {
      if (isEhr && name === 'comment') continue;
      for (const it of [
        canary,
        Buffer.from(canary).toString('hex'),
        Buffer.from(canary).toString('base64').slice(0, -4),
      ]) {
        expect({ table, name, found: text.includes(it) }).toEqual({ table, name, found: false });
      }
    }
  }
  const logged = gateway.logLines.join('\n');
  for (const canary of Object.values(canaries)) expect(logged).not.toContain(canary);
  expect((await settled(failing, `${canaries.key} once more`)).status).toBe(200);
});

/** Every row of every table, as text. */
async function dumpOf(): Promise<ReadonlyMap<string, string>> {
  const tables = await rowsOf<{ name: string }>(
    gateway,
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
  );
  const dump = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await rowsOf<{ row: string }>(gateway, `SELECT it::text AS row FROM ${name} it`);
    dump.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dump;
}
