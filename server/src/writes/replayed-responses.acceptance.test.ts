import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  bergen,
  book,
  bookSome,
  consecutiveSlots,
  creationBody,
  freeSlot,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { backdateCode, codeFor, confirmationOf, messagesAbout, rowsOf } from '../../../test/requests/codes.ts';
import {
  type AppointmentResponse,
  change,
  changeMany,
  creation,
  expectReplayed,
  type Failure,
  keysOf,
  newKey,
  type Sent,
  wrapFailing,
} from '../../../test/requests/idempotency-keys.ts';
import { openOutcome, sealOutcome } from './stored-write.ts';
import type { WriteResponse } from './write-kind.ts';

const failures: Failure[] = [];
afterEach(() => {
  expect(failures.splice(0)).toEqual([]);
});

const gateway = await startGateway({ connectors: [wrapFailing(failures)] });
afterAll(() => gateway.close());

const { send, stored, at } = keysOf(gateway);

/** Sends a request three times with one key. It is performed once, and each response is the same. */
async function sendThreeTimes(request: Sent, status: number): Promise<AppointmentResponse> {
  const key = newKey();
  const first = await send(request, key);
  expect({ status: first.status, text: first.text }).toMatchObject({ status });
  for (let round = 0; round < 2; round++) expectReplayed(await send(request, key), first);
  return first;
}

describe('the same key and request get the stored response', () => {
  test('a booking: 201 with its Location', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway);
    const { body, headers } = await sendThreeTimes(creation(slot), 201);
    expect(headers.location).toBe(`${oslo}/appointments/${body.id}`);
    expect(await at(slot)).toEqual([{ id: body.id, state: 'booked' }]);
  });

  test('a booking that awaits a code, in its original state, with one code sent', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const key = newKey();
    const request = creation(slot, sodermalm);
    const first = await send(request, key);
    expect(first).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    const code = await codeFor(gateway, first.body.id);
    expectReplayed(await send(request, key), first);
    await sendThreeTimes(change(first.body.id, { confirmation: { code } }, sodermalm), 200);
    expectReplayed(await send(request, key), first);
    expect(await messagesAbout(gateway, first.body.id)).toHaveLength(1);
    expect((await stored(first.body.id, sodermalm)).status).toBe('booked');
  });

  test('a booking whose members come in another order', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const members = Object.entries({ ...creationBody(slot), patient_id: 'header:x-patient', comment: 'Blåbær, 1.0' });
    const request = { ...creation(slot), headers: { 'x-patient': 'p-3' } };
    const first = await send({ ...request, body: Object.fromEntries(members) }, key);
    expect(first.status).toBe(201);
    expectReplayed(await send({ ...request, body: Object.fromEntries(members.reverse()) }, key), first);
    // Escapes and white space mean nothing, either.
    const [name = '', ...others] = members.map(([it, value]) => `"${it}" :\n${JSON.stringify(value)}`).sort();
    const text = `{ ${[...others, name].join(' , ')} }`.replace('å', '\\u00e5').replace('"comment"', '"comm\\u0065nt"');
    expectReplayed(await send({ ...request, body: text }, key), first);
    expect(await at(slot)).toEqual([{ id: first.body.id, state: 'booked' }]);
  });

  test('a change of many appointments whose ids come in another order is another request', async () => {
    const ids = (await bookSome(gateway, 2)).map(({ id }) => id);
    const key = newKey();
    const { path, method } = changeMany([], {});
    const first = await send({ method, path, body: { ids, comment: 'x' } }, key);
    expect(first.status).toBe(200);
    expectReplayed(await send({ method, path, body: { comment: 'x', ids } }, key), first);
    const other = await send({ method, path, body: { comment: 'x', ids: ids.toReversed() } }, key);
    expect(other).toMatchObject({ status: 422, body: { reason: 'idempotency_key_reused' } });
  });

  test('many appointments with long comments, stored compressed', async () => {
    const booked = await bookSome(gateway, 12);
    const ids = booked.map(({ id }) => id);
    const { text } = await sendThreeTimes(changeMany(ids, { comment: '診'.repeat(2000) }), 200);
    const room = await rowsOf<{ bytes: number }>(
      gateway,
      'SELECT max(octet_length(sealed_response)) AS bytes FROM operations',
    );
    expect(Buffer.byteLength(text)).toBeGreaterThan(65_536);
    expect(room[0]?.bytes).toBeLessThan(8_192);
  });

  test('a problem with all its faults', async () => {
    const rejected = await sendThreeTimes(
      { ...changeMany([], {}), body: { ids: Array(1500).fill(0), status: 1 } },
      400,
    );
    expect(rejected.text.length).toBeLessThan(16_384);
  });

  test('a move, although the appointment was moved again later', async () => {
    const { id } = await book(gateway);
    const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
    const key = newKey();
    const request = change(id, { start: first.start, end: first.end });
    const moved = await send(request, key);
    expect(moved.status).toBe(200);
    await send(change(id, { start: second.start, end: second.end }), undefined);
    expectReplayed(await send(request, key), moved);
    expect((await stored(id)).start).toBe(second.start);
  });

  test('a cancellation, direct and by code', { tags: 'every-ehr' }, async () => {
    await sendThreeTimes(change((await book(gateway)).id, { status: 'cancelled' }), 200);
    const { id } = await book(gateway, { careUnit: riverside });
    const { body } = await sendThreeTimes(change(id, { status: 'cancelled' }, riverside), 200);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', replaces_id: id });
    const code = await codeFor(gateway, body.id);
    await sendThreeTimes(change(body.id, { confirmation: { code } }, riverside), 200);
    expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
    expect((await stored(id, riverside)).status).toBe('cancelled');
  });

  test('a bulk update and a continuous reschedule', { tags: 'every-ehr' }, async () => {
    const ids = [await book(gateway), await book(gateway)].map(({ id }) => id);
    await sendThreeTimes(changeMany(ids, { comment: 'once' }), 200);
    const run = await consecutiveSlots(gateway, 3);
    const range = { start: run[0]?.start, end: run[2]?.end };
    const { body } = await sendThreeTimes(changeMany(ids, range), 200);
    expect(body.appointments).toHaveLength(3);
    expect(await at({ ...run[0], end: run[2]?.end } as Slot)).toHaveLength(3);
    await sendThreeTimes(
      changeMany(
        body.appointments.map(({ id }) => id),
        { status: 'cancelled' },
      ),
      200,
    );
  });

  test('a bulk confirmation', async () => {
    const ids = [await book(gateway, { careUnit: riverside }), await book(gateway, { careUnit: riverside })].map(
      ({ id }) => id,
    );
    const { body } = await sendThreeTimes(changeMany(ids, { status: 'cancelled' }, riverside), 200);
    const waiting = body.appointments.map(({ id }) => id);
    const code = await codeFor(gateway, waiting[0] ?? '');
    await sendThreeTimes(changeMany(waiting, { confirmation: { code } }, riverside), 200);
  });

  test('a resent code: 202 and one message', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    await messagesAbout(gateway, waiting.id);
    await backdateCode(gateway, confirmationOf(waiting).id, 60);
    await sendThreeTimes({ method: 'POST', path: `${sodermalm}/appointments/${waiting.id}/confirmation` }, 202);
    expect(await messagesAbout(gateway, waiting.id, 2)).toHaveLength(2);
  });

  test('a problem, unchanged, although the request would succeed now', async () => {
    const slot = await freeSlot(gateway);
    const { id } = await book(gateway, { slot });
    const key = newKey();
    const first = await send(creation(slot), key);
    expect(first).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    await send(change(id, { status: 'cancelled' }), undefined);
    expectReplayed(await send(creation(slot), key), first);
    expect(await at(slot)).toEqual([]);

    await sendThreeTimes({ ...creation(slot), body: { ...creationBody(slot), patient_id: 'nobody' } }, 400);
    await sendThreeTimes(change('nothing', { comment: 'x' }), 404);
    await sendThreeTimes(change(id, { comment: 'x' }), 409);
    await sendThreeTimes(changeMany(['nothing', id], { comment: 'x' }), 400);
    await sendThreeTimes({ method: 'POST', path: `${oslo}/appointments/${id}/confirmation` }, 409);
  });

  test('a request that does not match its schema', async () => {
    const { id } = await book(gateway);
    const slot = await freeSlot(gateway);
    const { resource_id: _, ...incomplete } = creationBody(slot);
    await sendThreeTimes({ ...creation(slot), body: incomplete }, 400);
    await sendThreeTimes({ ...creation(slot), path: `${oslo}/appointments?dry_run=perhaps` }, 400);
    await sendThreeTimes(change(id, { status: 'booked' }), 400);
    await sendThreeTimes(changeMany([], { comment: 'x' }), 400);
    await sendThreeTimes({ method: 'POST', path: `${oslo}/appointments/${id}/confirmation?dry_run=no` }, 400);
    expect(await at(slot)).toEqual([]);

    const key = newKey();
    expect((await send({ ...creation(slot), body: incomplete }, key)).body.reason).toBe('request_invalid');
    expect(await send(creation(slot), key)).toMatchObject({
      status: 422,
      body: { reason: 'idempotency_key_reused', errors: [{ header: 'idempotency-key' }] },
    });
  });

  test('an incorrect code counts as one attempt', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    const right = await codeFor(gateway, waiting.id);
    const wrong = right === '000000' ? '111111' : '000000';
    const { body } = await sendThreeTimes(change(waiting.id, { confirmation: { code: wrong } }, sodermalm), 400);
    expect(body).toMatchObject({ reason: 'confirmation_code_incorrect', attempts_remaining: 4 });
    expect(confirmationOf(await stored(waiting.id, sodermalm)).attempts_remaining).toBe(4);
  });
});

describe('a response that an earlier version stored is sent as it was stored', () => {
  /** Changes what is stored under the last key, as a version with another schema would have stored it. */
  async function storeAsBefore(change: (body: Record<string, unknown>) => void): Promise<void> {
    const { db, keys } = gateway.deps.services;
    const row = await db
      .selectFrom('operations')
      .select(['id', 'client_id', 'idempotency_key_hash', 'sealed_response'])
      .where('sealed_response', 'is not', null)
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow();
    const operation = { clientId: row.client_id, keyHash: row.idempotency_key_hash };
    const { body, status } = openOutcome(keys, operation, row.sealed_response ?? Buffer.alloc(0)) as WriteResponse;
    change(body as Record<string, unknown>);
    const sealed = sealOutcome(keys, operation, { body, ...(status !== undefined && { status }) });
    await db.updateTable('operations').set({ sealed_response: sealed }).where('id', '=', row.id).execute();
  }

  /** Sends it again. The response does not fit the document of today. */
  async function sendAgain({ method, path, body }: Sent, key: string) {
    const { id, secret } = gateway.credentials('everything');
    const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        'x-service-client-id': id,
        'x-service-client-secret': secret,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  }

  test('an appointment without fields that today are required, and with one that is unknown', async () => {
    const key = newKey();
    const request = creation(await freeSlot(gateway));
    const first = await send(request, key);
    await storeAsBefore((body) => {
      delete body.resource_name;
      delete body.status;
      body.of_an_old_version = { kept: true };
    });
    const again = await sendAgain(request, key);
    const { resource_name: _, status: __, ...rest } = first.body as unknown as Record<string, unknown>;
    expect([again.status, again.body]).toEqual([201, { ...rest, of_an_old_version: { kept: true } }]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toBe(first.headers['content-type']);
  });

  test('many appointments, of which one has a value of another type', async () => {
    const ids = (await bookSome(gateway, 2)).map(({ id }) => id);
    const key = newKey();
    await send(changeMany(ids, { comment: 'x' }), key);
    await storeAsBefore(({ appointments }) => {
      Object.assign((appointments as object[])[1] ?? {}, { start: null, resource_id: 7 });
    });
    const again = await sendAgain(changeMany(ids, { comment: 'x' }), key);
    expect(again).toMatchObject({ status: 200, body: { appointments: [{}, { start: null, resource_id: 7 }] } });
  });
});

describe('the same key with a different request is rejected', () => {
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
    // Other headers may differ.
    expectReplayed(await send({ ...by(), headers: { 'x-patient': 'p-3', 'user-agent': 'another' } }, key), first);
  });

  test('while the first request is in progress', async () => {
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
    // The problem of the second request is not stored.
    expectReplayed(await send(creation(slot), key), await first);
  });
});

describe('twenty concurrent requests', () => {
  test.each([
    ['a booking', oslo],
    ['a booking by code', sodermalm],
  ])('%s is done once', async (_, careUnit) => {
    const slot = await freeSlot(gateway, { careUnit });
    const key = newKey();
    const request = creation(slot, careUnit);
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(request, key)));
    const [first, ...others] = responses.filter(
      ({ headers, status }) => status === 201 && !headers['idempotency-replayed'],
    );
    if (!first) throw new Error('Nobody was first');
    expect(others).toEqual([]);
    for (const response of responses) {
      if (response === first) continue;
      if (response.status === 201) expectReplayed(response, first);
      else expect(response).toMatchObject({ status: 409, body: { reason: 'idempotency_in_progress' } });
    }
    expectReplayed(await send(request, key), first);
    expect(await at(slot, first.body.emr)).toHaveLength(1);
    if (careUnit === oslo) return;
    expect(await messagesAbout(gateway, first.body.id)).toHaveLength(1);
    const { id } = confirmationOf(first.body);
    expect(await rowsOf(gateway, 'SELECT id FROM messages WHERE confirmation_id = $1', [id])).toHaveLength(1);
  });
});

describe('access is checked before a response is replayed', () => {
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
    const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
    const mine = await send({ ...creation(first), client: 'everything' }, key);
    const theirs = await send({ ...creation(second), client: 'narrowed' }, key);
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.headers['idempotency-replayed']).toBeUndefined();
    expectReplayed(await send({ ...creation(first), client: 'everything' }, key), mine);
    expectReplayed(await send({ ...creation(second), client: 'narrowed' }, key), theirs);
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

  test('the longest and the shortest key are accepted', async () => {
    const { id } = await book(gateway);
    for (const key of ['~', ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'.trim(), 'k'.repeat(255)]) {
      const first = await send(change(id, { comment: 'yes' }), key);
      expect(first.status).toBe(200);
      expectReplayed(await send(change(id, { comment: 'yes' }), key), first);
    }
  });
});
