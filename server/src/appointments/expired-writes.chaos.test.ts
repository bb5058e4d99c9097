import { expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { calledWhileUnavailable, lookedUpWithoutResult, settledResponse } from '../../../test/gateway/recovery.ts';
import { freeSlot, isFree } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

const giveUpSeconds = 3;
const { gateway, ehrs } = await startBeforeFaultyEhrs({ recovery: { give_up_seconds: giveUpSeconds } });
const { send, at } = keysOf(gateway);
const ehr = ehrs.of('sandbox-no');
const path = careUnitPath('sandbox-no', 'oslo-sentrum');

/** A booking that was not made before an outage of the EHR, and whose write expires during the outage. */
async function loseRequest(key: string) {
  const slot = await freeSlot(gateway, { careUnit: path });
  ehr.goDownDuring({ isDone: false });
  expect((await send(creation(slot, path), key)).body.reason).toBe('outcome_unknown');
  const tooOld = Date.now() + giveUpSeconds * 1000;
  await eventually(() => expect(Date.now()).toBeGreaterThan(tooOld));
  await calledWhileUnavailable(ehr);
  ehr.comeUp();
  return slot;
}

test('an expired booking is not made after the outage', async () => {
  const slot = await loseRequest(newKey());
  await lookedUpWithoutResult(ehr, Date.now());
  expect(await at(slot)).toEqual([]);
  expect(await isFree(gateway, slot, path)).toBe(true);
});

test('a retry of an expired booking gets a response that matches the EHR', async () => {
  const key = newKey();
  const slot = await loseRequest(key);
  const { status, body } = await settledResponse(() => send(creation(slot, path), key));
  await eventually(async () =>
    expect(await at(slot)).toEqual(status === 201 ? [{ id: body.id, state: 'booked' }] : []),
  );
});
