/** @module-tag every-ehr */
import { describe, expect, test } from 'vitest';
import { startBeforeFaultyEhrs } from '../gateway/faulty-ehrs.ts';
import { calledWhileUnavailable, finalResponse, lookedUpWithoutResult, settledResponse } from '../gateway/recovery.ts';
import {
  book,
  bookEach,
  consecutiveSlots,
  freeSlot,
  idsIn,
  isFree,
  oslo,
  type Slot,
  sodermalm,
  at as timeOf,
} from '../requests/bookings.ts';
import { careUnitOf, codeFor, eventually, messagesAbout } from '../requests/codes.ts';
import {
  change,
  changeMany,
  creation,
  expectReplayed,
  keysOf,
  newKey,
  type Sent,
} from '../requests/idempotency-keys.ts';

/* Checks how reconciliation finds writes in FHIR servers. The tests with sandboxes cover every kind of write. */

const { gateway, ehrs } = await startBeforeFaultyEhrs();
const { send, at } = keysOf(gateway);
const sweden = careUnitOf(gateway, sodermalm);

const outcomeUnknown = { status: 504, body: { reason: 'outcome_unknown' } };

/** Loses the response of a write. The EHR is unavailable for background jobs and a retry, and then available again. */
async function loseResponse(emr: string, request: Sent, key: string, isDone: boolean) {
  const ehr = ehrs.of(emr);
  ehr.goDownDuring({ isDone });
  expect(await send(request, key)).toMatchObject(outcomeUnknown);
  await calledWhileUnavailable(ehr);
  expect(await settledResponse(() => send(request, key))).toMatchObject(outcomeUnknown);
  ehr.comeUp();
}

describe.each([true, false])('an EHR that becomes unavailable during a write, write made: %s', (isDone) => {
  test('has one booking, which a retry with the same key returns', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    await loseResponse('sandbox-no', creation(slot), key, isDone);
    const response = await finalResponse(() => send(creation(slot), key));
    expect(response).toMatchObject({ status: 201, body: { status: 'booked', ...timeOf(slot) } });
    expect(await at(slot)).toEqual([{ id: response.body.id, state: 'booked' }]);
    expectReplayed(await send(creation(slot), key), response);
  });

  test('has one hold, and its code confirms it', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const key = newKey();
    await loseResponse('sandbox-se', creation(slot, sodermalm), key, isDone);
    const { status, body } = await finalResponse(() => send(creation(slot, sodermalm), key));
    expect({ status, body }).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    expect(await at(slot, 'sandbox-se')).toEqual([{ id: body.id, state: 'held' }]);
    expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
    expect(await sweden.confirm(body.id, await codeFor(gateway, body.id))).toMatchObject({ status: 200 });
  });

  test('moves appointments once, alone and in bulk', async () => {
    // Different days in each run, so that the other resource is free.
    const from = new Date(Date.now() + (isDone ? 20 : 27) * 86_400_000);
    const [first, second, third] = (await consecutiveSlots(gateway, 3, { from })) as [Slot, Slot, Slot];
    const { id } = await book(gateway, { slot: first });
    const key = newKey();
    await loseResponse('sandbox-no', change(id, timeOf(second)), key, isDone);
    const moved = await finalResponse(() => send(change(id, timeOf(second)), key));
    expect(moved).toMatchObject({ status: 200, body: { id, ...timeOf(second) } });
    expect(await isFree(gateway, first, oslo)).toBe(true);

    const ids = [id, ...idsIn(await bookEach(gateway, [third]))];
    const many = changeMany(ids, { resource_id: 'r-2' });
    const bulkKey = newKey();
    await loseResponse('sandbox-no', many, bulkKey, isDone);
    const { status, body } = await finalResponse(() => send(many, bulkKey));
    expect(status).toBe(200);
    expect(body.appointments.map(({ resource_id }) => resource_id)).toEqual(['emr_id:r-2', 'emr_id:r-2']);
  });

  test('cancels once', async () => {
    const slot = await freeSlot(gateway);
    const { id } = await book(gateway, { slot });
    const key = newKey();
    const request = change(id, { status: 'cancelled' });
    await loseResponse('sandbox-no', request, key, isDone);
    const response = await finalResponse(() => send(request, key));
    expect(response).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await at(slot)).toEqual([]);
  });
});

describe('an EHR that makes a write after the time-out', () => {
  /** The response is `outcome_unknown`, a look-up finds nothing, and then the EHR makes the write. */
  async function finishLate(emr: string, request: Sent, key?: string): Promise<void> {
    const ehr = ehrs.of(emr);
    const late = ehr.finishLate();
    expect(await send(request, key)).toMatchObject(outcomeUnknown);
    await lookedUpWithoutResult(ehr, Date.now() + 1000);
    await late.finish();
  }

  test('has no hold if the request is not retried', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    await finishLate('sandbox-se', creation(slot, sodermalm));
    await eventually(async () => expect(await at(slot, 'sandbox-se')).toEqual([]));
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
  });

  test('has one booking, which a retry with the same key returns', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    await finishLate('sandbox-no', creation(slot), key);
    const response = await finalResponse(() => send(creation(slot), key));
    expect(response.status).toBe(201);
    await eventually(async () => expect(await at(slot)).toEqual([{ id: response.body.id, state: 'booked' }]));
  });

  test('confirms the appointment with the code', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { id } = await book(gateway, { careUnit: sodermalm, slot });
    const code = await codeFor(gateway, id);
    await finishLate('sandbox-se', change(id, { confirmation: { code } }, sodermalm));
    await eventually(async () => expect(await sweden.get(id)).toMatchObject({ status: 'booked', confirmation: null }));
    expect(await at(slot, 'sandbox-se')).toEqual([{ id, state: 'booked' }]);
  });
});
