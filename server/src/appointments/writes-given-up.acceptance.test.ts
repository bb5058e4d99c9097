/** @module-tag any-database */
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { freeSlot, isFree } from '../../../test/bookings.ts';
import { eventually } from '../../../test/codes.ts';
import { faultyEhrs } from '../../../test/faulty-ehr.ts';
import { startGateway } from '../../../test/gateway.ts';
import { creation, keysOf, newKey } from '../../../test/idempotency-keys.ts';
import { anotherConnector, careUnitPath } from '../../../test/other-ehrs.ts';
import { answerOf, askedInVain, lookedUpInVain, withQuickRecovery } from '../../../test/recovery.ts';

// Longer than anything is waited for, so that a failure says what has not come about.
vi.setConfig({ testTimeout: 150_000 });

const giveUpSeconds = 3;
const ehrs = faultyEhrs();
beforeEach(ehrs.reset);
const gateway = await startGateway({
  connectors: [anotherConnector(ehrs.faulty)],
  configure: (demo) => withQuickRecovery(demo, { give_up_seconds: giveUpSeconds }),
});
afterAll(() => gateway.close());
const { send, at } = keysOf(gateway);
const ehr = ehrs.of('sandbox-no');
const path = careUnitPath('sandbox-no', 'oslo-sentrum');

/** A booking that the EHR has not made, and that is too old to be made when the EHR is back. */
async function loseForLong(key: string) {
  const slot = await freeSlot(gateway, { careUnit: path });
  ehr.leaveDuring({ isDone: false });
  expect((await send(creation(slot, path), key)).body.reason).toBe('outcome_unknown');
  const tooOld = Date.now() + giveUpSeconds * 1000;
  await eventually(() => expect(Date.now()).toBeGreaterThan(tooOld));
  await askedInVain(ehr);
  ehr.comeBack();
  return slot;
}

test('a booking that nobody asks for any more is not made when the EHR is back', async () => {
  const slot = await loseForLong(newKey());
  await lookedUpInVain(ehr, Date.now());
  expect(await at(slot)).toEqual([]);
  expect(await isFree(gateway, slot, path)).toBe(true);
});

test('of a booking that is asked for once more, the answer and the EHR say the same', async () => {
  const key = newKey();
  const slot = await loseForLong(key);
  const { status, body } = await answerOf(() => send(creation(slot, path), key));
  await eventually(async () =>
    expect(await at(slot)).toEqual(status === 201 ? [{ id: body.id, state: 'booked' }] : []),
  );
});
