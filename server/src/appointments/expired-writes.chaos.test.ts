import { afterAll, beforeEach, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { careUnitPath, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  calledWhileUnavailable,
  lookedUpWithoutResult,
  settledResponse,
  withQuickRecovery,
} from '../../../test/gateway/recovery.ts';
import { freeSlot, isFree } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

const giveUpSeconds = 3;
const ehrs = faultyEhrs();
beforeEach(ehrs.reset);
const gateway = await startGateway({
  connectors: [wrapConnector(ehrs.faulty)],
  configure: (demo) => withQuickRecovery(demo, { give_up_seconds: giveUpSeconds }),
});
afterAll(() => gateway.close());
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
