/** @module-tag any-database */
import { expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { settledResponse } from '../../../test/gateway/recovery.ts';
import { book, freeSlot, isFree } from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, eventually, expireCode, rowsOf } from '../../../test/requests/codes.ts';
import { expectEvents } from '../../../test/requests/events.ts';
import { change, creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { writeKinds } from '../write-kinds.ts';
import { dropWrite, findOpenWrite, listOpenWrites, type OpenWrite, tryNow } from './operator.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: [
    { id: 'direct', like: 'sandbox-no' },
    { id: 'by-code', like: 'sandbox-se' },
  ],
  // Long enough that no write expires during the test.
  recovery: { settling_seconds: 3600 },
});
const { send, at } = keysOf(gateway);
const { db } = gateway.deps.services;
const direct = careUnitPath('direct', 'oslo-sentrum');
const byCode = careUnitPath('by-code', 'sodermalm');
const unknown = { status: 504, body: { reason: 'outcome_unknown' } };

/** Waits until the only open write of an EHR matches. */
function openOperation(emr: string, like: Partial<OpenWrite> = {}): Promise<OpenWrite> {
  return eventually(async () => {
    const [only, ...more] = (await listOpenWrites(db, 100)).filter((it) => it.emr === emr);
    expect(more).toEqual([]);
    expect(only).toMatchObject(like);
    return only as OpenWrite;
  });
}

/** Repeats until background recovery does not hold the lease. */
function drop(id: string): Promise<void> {
  return eventually(async () => expect(await dropWrite(db, writeKinds, id)).toBe('dropped'));
}

/** The levels of the log lines about failed attempts to end a write. */
function levelsOf(operationId: string): number[] {
  const lines = gateway.logLines.filter((line) => line.includes(operationId)).map((line) => JSON.parse(line));
  return lines.filter(({ msg }) => msg === 'operation recovery failed').map(({ level }) => level);
}

function itemStates(appointmentId: string) {
  return rowsOf(gateway, 'SELECT state, operation_id FROM confirmation_items WHERE appointment_id = $1', [
    appointmentId,
  ]);
}

test('dropping an operation makes its code pending again and frees its key', async () => {
  const { id } = await book(gateway, { careUnit: byCode });
  const code = await codeFor(gateway, id);
  const request = change(id, { confirmation: { code } }, byCode);
  const key = newKey();
  ehrs.of('by-code').goDownDuring({ isDone: false });
  expect(await send(request, key)).toMatchObject(unknown);
  const open = await openOperation('by-code', {
    state: 'pending',
    lastFailure: 'ehr_unavailable',
    leaseExpiresAt: null,
  });
  expect(open).toMatchObject({
    clientId: 'everything',
    careUnitId: 'sodermalm',
    kind: 'appointments',
    isKeyed: true,
    hasResponse: false,
    reportedUnknown: true,
    firstSentAt: expect.any(Date),
    nextAttemptAt: expect.any(Date),
    suspendedAt: null,
  });
  expect(await itemStates(id)).toMatchObject([{ state: 'confirming' }]);
  await drop(open.id);
  expect(await itemStates(id)).toEqual([{ state: 'pending', operation_id: null }]);
  expect(await findOpenWrite(db, open.id)).toBeUndefined();
  expect(await dropWrite(db, writeKinds, open.id)).toBe('not found');
  ehrs.of('by-code').comeUp();
  const response = await send(request, key);
  expect(response).toMatchObject({ status: 200, body: { status: 'booked' } });
  expect(response.headers['idempotency-replayed']).toBeUndefined();
});

test('dropping an expiry marks its holds as expired', async () => {
  const held = await book(gateway, { careUnit: byCode });
  ehrs.of('by-code').goDown();
  await expireCode(gateway, held);
  const { id } = await openOperation('by-code', { kind: 'expiry', clientId: 'background', isKeyed: false });
  // The EHR has a line of its own.
  await openOperation('by-code', { lastFailure: 'ehr_unavailable' });
  expect(new Set(levelsOf(id))).toEqual(new Set([30]));
  expect(await itemStates(held.id)).toEqual([{ state: 'expiring', operation_id: id }]);
  await drop(id);
  expect(await itemStates(held.id)).toEqual([{ state: 'expired', operation_id: null }]);
  await expectEvents(gateway, held.id, ['awaiting_confirmation', 'confirmation_expired']);
  ehrs.of('by-code').comeUp();
  expect(await careUnitOf(gateway, byCode).get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
});

test('a suspended operation continues after it is retried', async () => {
  const ehr = ehrs.of('direct');
  const slot = await freeSlot(gateway, { careUnit: direct });
  ehr.failAlways('findOperation', 'rejected');
  ehr.loseResponse({ isDone: true });
  expect(await send(creation(slot, direct), undefined)).toMatchObject(unknown);
  const { id } = await openOperation('direct', { state: 'pending' });
  // As if it had failed many times.
  await rowsOf(gateway, 'UPDATE operations SET consecutive_failures = 100 WHERE id = $1 RETURNING id', [id]);
  const suspended = await openOperation('direct', { state: 'suspended' });
  expect(suspended).toMatchObject({
    id,
    lastFailure: 'ehr_rejected',
    nextAttemptAt: null,
    suspendedAt: expect.any(Date),
  });
  expect(new Set(levelsOf(id))).toEqual(new Set([40]));
  ehr.reset();
  expect(await tryNow(db, id)).toBe(true);
  await eventually(async () => expect(await findOpenWrite(db, id)).toBeUndefined());
  expect(await at(slot, 'direct')).toHaveLength(1);
});

test('an operation whose lease a request holds is neither dropped nor retried', async () => {
  const ehr = ehrs.of('direct');
  const slot = await freeSlot(gateway, { careUnit: direct });
  const gate = Promise.withResolvers<void>();
  ehr.hang('changeAppointments', gate.promise);
  const response = send(creation(slot, direct), newKey());
  const { id } = await openOperation('direct', { leaseExpiresAt: expect.any(Date) });
  expect(await dropWrite(db, writeKinds, id)).toBe('being worked on');
  expect(await tryNow(db, id)).toBe(false);
  gate.resolve();
  expect(await response).toMatchObject({ status: 201 });
  expect(await isFree(gateway, slot, direct)).toBe(false);
});

test('a suspended operation whose lease a request holds continues when the request ends', async () => {
  const ehr = ehrs.of('direct');
  const request = creation(await freeSlot(gateway, { careUnit: direct }), direct);
  const key = newKey();
  ehr.goDownDuring({ isDone: true });
  expect(await send(request, key)).toMatchObject(unknown);
  await eventually(async () => {
    const suspended = await rowsOf(
      gateway,
      `UPDATE operations SET suspended_at = now(), next_attempt_at = NULL
       WHERE emr = 'direct' AND state = 'pending' AND lease_expires_at IS NULL RETURNING id`,
    );
    expect(suspended).toHaveLength(1);
  });
  const gate = Promise.withResolvers<void>();
  ehr.hang('changeAppointments', gate.promise);
  ehr.comeUp();
  const response = send(request, key);
  const { id, leaseExpiresAt } = await openOperation('direct', {
    state: 'suspended',
    leaseExpiresAt: expect.any(Date),
  });
  expect(await tryNow(db, id)).toBe(true);
  expect((await findOpenWrite(db, id))?.nextAttemptAt).toEqual(leaseExpiresAt);
  gate.resolve();
  expect(await response).toMatchObject({ status: 201 });
});

test('dropping a monitored operation keeps its stored response', async () => {
  const ehr = ehrs.of('direct');
  const request = creation(await freeSlot(gateway, { careUnit: direct }), direct);
  const key = newKey();
  ehr.loseResponse({ isDone: false });
  expect(await send(request, key)).toMatchObject(unknown);
  ehr.failNext('time_slot_unavailable');
  const rejection = await settledResponse(() => send(request, key));
  expect(rejection).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
  const { id } = await openOperation('direct', { state: 'monitored', hasResponse: true });
  await drop(id);
  expect(await findOpenWrite(db, id)).toBeUndefined();
  const again = await send(request, key);
  expect([again.status, again.text]).toEqual([rejection.status, rejection.text]);
});

test('an invalid id matches nothing', async () => {
  expect(await findOpenWrite(db, 'x')).toBeUndefined();
  expect(await tryNow(db, 'x')).toBe(false);
  expect(await dropWrite(db, writeKinds, 'x')).toBe('not found');
});
