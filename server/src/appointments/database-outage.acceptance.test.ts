import { describe, expect, test, vi } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { finalResponse } from '../../../test/gateway/recovery.ts';
import { book, consecutiveSlots, freeSlot, type Slot, at as timeOf } from '../../../test/requests/bookings.ts';
import { codeFor, eventually, messagesAbout, rowsOf } from '../../../test/requests/codes.ts';
import {
  type AppointmentResponse,
  change,
  creation,
  keysOf,
  newKey,
  type Sent,
} from '../../../test/requests/idempotency-keys.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs();
const { send, at, stored } = keysOf(gateway);
const direct = careUnitPath('sandbox-no', 'oslo-sentrum');
const byCode = careUnitPath('sandbox-se', 'sodermalm');

/**
 * Sends a write. The database becomes unavailable after the EHR has performed the write, and available again after the
 * response. The lease, which the request could not release, has then expired.
 */
async function sendAndLoseDatabase(emr: string, request: Sent, key: string | undefined): Promise<AppointmentResponse> {
  const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  let restore = () => {};
  ehrs.of(emr).afterWrite(() => {
    const spy = vi.spyOn(gateway.database.pool, 'connect').mockRejectedValue(lost);
    restore = () => spy.mockRestore();
  });
  try {
    return await send(request, key);
  } finally {
    restore();
    await rowsOf(
      gateway,
      'UPDATE operations SET lease_expires_at = now(), next_attempt_at = now() WHERE lease_expires_at > now()',
    );
  }
}

function expectUnknown({ status, body }: AppointmentResponse): void {
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
}

describe('an outage of the database after the EHR performed a write leaves the outcome unknown', () => {
  test('a retry with the key returns the booking, which was made once', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = newKey();
    expectUnknown(await sendAndLoseDatabase('sandbox-no', creation(slot, direct), key));
    const response = await finalResponse(() => send(creation(slot, direct), key));
    expect(response.status, response.text).toBe(201);
    expect(await at(slot)).toEqual([{ id: response.body.id, state: 'booked' }]);
  });

  // The request stores no write, so the response may also be 201.
  test('a booking without a key is kept', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const response = await sendAndLoseDatabase('sandbox-no', creation(slot, direct), undefined);
    if (response.status !== 201) expectUnknown(response);
    expect(await at(slot)).toHaveLength(1);
  });

  test('a retry of a booking by code leaves one hold and one message', async () => {
    const slot = await freeSlot(gateway, { careUnit: byCode });
    const key = newKey();
    expectUnknown(await sendAndLoseDatabase('sandbox-se', creation(slot, byCode), key));
    const response = await finalResponse(() => send(creation(slot, byCode), key));
    expect(response.status, response.text).toBe(201);
    const { id } = response.body;
    expect(await at(slot, 'sandbox-se')).toEqual([{ id, state: 'held' }]);
    await codeFor(gateway, id);
    expect(await messagesAbout(gateway, id)).toHaveLength(1);
  });

  test('a hold without a key is released', async () => {
    const slot = await freeSlot(gateway, { careUnit: byCode });
    expectUnknown(await sendAndLoseDatabase('sandbox-se', creation(slot, byCode), undefined));
    await eventually(async () => expect(await at(slot, 'sandbox-se')).toEqual([]));
  });

  test('a confirmation that the EHR performed is recorded', async () => {
    const held = await book(gateway, { careUnit: byCode });
    const code = await codeFor(gateway, held.id);
    const request = change(held.id, { confirmation: { code } }, byCode);
    expectUnknown(await sendAndLoseDatabase('sandbox-se', request, undefined));
    await eventually(async () =>
      expect(await stored(held.id, byCode)).toMatchObject({ status: 'booked', confirmation: null }),
    );
  });

  test('a retry with the key returns the moved appointment', async () => {
    const [from, to] = (await consecutiveSlots(gateway, 2, { careUnit: direct })) as [Slot, Slot];
    const { id } = await book(gateway, { careUnit: direct, slot: from });
    const key = newKey();
    expectUnknown(await sendAndLoseDatabase('sandbox-no', change(id, timeOf(to), direct), key));
    const response = await finalResponse(() => send(change(id, timeOf(to), direct), key));
    expect(response).toMatchObject({ status: 200, body: { id, ...timeOf(to) } });
    expect(await at(to)).toEqual([{ id, state: 'booked' }]);
  });
});
