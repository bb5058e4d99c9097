/** @module-tag any-database */
import type { AppointmentWrite, Connector } from '@crossward/connector-kit';
import { beforeEach, expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { finalResponse } from '../../../test/gateway/recovery.ts';
import { bookEach, consecutiveSlots, idsIn } from '../../../test/requests/bookings.ts';
import { changeMany, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

const emr = 'changing';
let transactions = true;
let writes: AppointmentWrite[] = [];
beforeEach(() => {
  writes = [];
});

/** An EHR whose administrator allows and forbids transactions while the gateway runs. */
function changing(connector: Connector): Connector {
  const { capabilities, changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR supports no changes');
  return {
    ...connector,
    get capabilities() {
      return { ...capabilities, transactions };
    },
    changeAppointments(write) {
      if (!transactions && write.changes.length > 1) throw new Error('This EHR supports one change per write');
      writes.push(write);
      return changeAppointments(write);
    },
  };
}

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: [{ id: emr, like: 'sandbox-no' }],
  limited: (faulty, id) => (id === emr ? changing(faulty) : faulty),
});
const { send } = keysOf(gateway);
const careUnit = careUnitPath(emr, 'oslo-sentrum');

async function bookTwo() {
  return idsIn(await bookEach(gateway, await consecutiveSlots(gateway, 2, { careUnit }), { careUnit }));
}

test('a retry finishes separate writes as such, although the EHR now has transactions', async () => {
  transactions = false;
  const ids = await bookTwo();
  const cancellation = changeMany(ids, { status: 'cancelled' }, careUnit);
  const key = newKey();
  ehrs.of(emr).goDownDuring({ after: 1, isDone: true });
  expect(await send(cancellation, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  transactions = true;
  ehrs.of(emr).comeUp();
  expect(await finalResponse(() => send(cancellation, key))).toMatchObject({
    status: 200,
    body: { appointments: ids.map((id) => ({ id, status: 'cancelled' })) },
  });
});

test('a retry finds a transaction, although the EHR now makes one change at a time', async () => {
  transactions = true;
  const ids = await bookTwo();
  const cancellation = changeMany(ids, { status: 'cancelled' }, careUnit);
  const key = newKey();
  ehrs.of(emr).goDownDuring({ isDone: true });
  expect(await send(cancellation, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  transactions = false;
  ehrs.of(emr).comeUp();
  expect(await finalResponse(() => send(cancellation, key))).toMatchObject({
    status: 200,
    body: { appointments: ids.map((id) => ({ id, status: 'cancelled' })) },
  });
});

test('a retry plans again if the EHR made no change of a transaction that it no longer makes', async () => {
  transactions = true;
  const ids = await bookTwo();
  const change = changeMany(ids, { comment: 'new' }, careUnit);
  const key = newKey();
  ehrs.of(emr).goDownDuring({ isDone: false });
  expect(await send(change, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  transactions = false;
  ehrs.of(emr).comeUp();
  expect(await finalResponse(() => send(change, key))).toMatchObject({
    status: 200,
    body: { appointments: ids.map((id) => ({ id, comment: 'new' })) },
  });
});
