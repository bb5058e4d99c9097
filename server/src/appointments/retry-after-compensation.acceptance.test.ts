/** @module-tag any-database */
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { beforeEach, expect, test, vi } from 'vitest';
import { withoutHolds, withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { lookedUpWithoutResult, settledResponse } from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
  book,
  bookEach,
  freeSlot,
  freeSlots,
  idsIn,
  nextMonth,
} from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, confirmationOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { change, changeMany, creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

/** Appointments whose release the EHR rejects. */
const kept = new Set<string>();

function keeping(connector: Connector): Connector {
  const { changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR takes no changes');
  return {
    ...connector,
    async changeAppointments(write) {
      const isRejected = write.changes.some((it) => it.kind === 'release' && kept.has(it.appointmentId));
      if (isRejected) throw new ConnectorError('rejected', 'Simulated failure');
      return changeAppointments(write);
    },
  };
}

function unasked({ findOperation: _, ...connector }: Connector): Connector {
  return connector;
}

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: [
    { id: 'no-transactions', like: 'sandbox-no' },
    { id: 'unasked', like: 'sandbox-no' },
    { id: 'no-hold', like: 'sandbox-se' },
    { id: 'holds', like: 'sandbox-se' },
  ],
  limited(connector, emr) {
    const faulty = keeping(connector);
    if (emr === 'no-transactions') return withoutTransactions(faulty);
    if (emr === 'no-hold') return withoutHolds(faulty);
    return emr === 'unasked' ? unasked(faulty) : faulty;
  },
});
beforeEach(() => kept.clear());
const { send } = keysOf(gateway);

test('a change by staff between two attempts is kept if the second attempt is rejected', async () => {
  const path = careUnitPath('no-transactions', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);
  const ehr = ehrs.of('no-transactions');
  const search = { careUnit: path, from: nextMonth() };
  const there = (await freeSlots(gateway, { ...search, resourceId: 'r-2' })).map(({ start }) => start);
  const slots = (await freeSlots(gateway, search)).filter(({ start }) => there.includes(start)).slice(0, 2);
  const [first, second] = (await bookEach(gateway, slots, { careUnit: path, comment: 'old' })) as [
    Appointment,
    Appointment,
  ];
  ehr.goDownDuring({ after: 1, isDone: false });
  const key = newKey();
  const move = () => send(changeMany(idsIn([first, second]), { resource_id: 'r-2' }, path), key);
  expectProblem(await move(), 504, 'outcome_unknown');
  await gateway.ehr('no-transactions').comment(first.id, 'by staff');
  ehr.failNext('rejected', { after: 1 });
  ehr.comeUp();
  await settledResponse(move);
  await eventually(async () =>
    expect(
      await rowsOf(gateway, `SELECT FROM operations WHERE emr = 'no-transactions' AND state = 'compensating'`),
    ).toEqual([]),
  );
  expect(await careUnit.get(first.id)).toMatchObject({ comment: 'by staff' });
});

test('a retry whose look-up times out gets outcome_unknown', async () => {
  const path = careUnitPath('unasked', 'oslo-sentrum');
  const ehr = ehrs.of('unasked');
  const slot = await freeSlot(gateway, { careUnit: path });
  const key = newKey();
  ehr.loseResponse({ isDone: true });
  ehr.failAlways('listAppointments', 'timeout');
  expectProblem(await send(creation(slot, path), key), 504, 'outcome_unknown');
  expectProblem(await settledResponse(() => send(creation(slot, path), key)), 504, 'outcome_unknown');
});

test('a cancelled draft stays cancelled, although the EHR books it late', async () => {
  const path = careUnitPath('no-hold', 'sodermalm');
  const careUnit = careUnitOf(gateway, path);
  const ehr = ehrs.of('no-hold');
  const draft = await book(gateway, { careUnit: path, patientId: 'p-5' });
  const code = await codeFor(gateway, draft.id);
  const late = ehr.finishLate();
  const since = Date.now();
  expectProblem(await send(change(draft.id, { confirmation: { code } }, path), undefined), 504, 'outcome_unknown');
  await lookedUpWithoutResult(ehr, since);
  await eventually(async () => expect((await careUnit.cancel(draft.id)).status).toBe(200));
  await late.finish();
  await vi.waitFor(
    async () => {
      const booked = (await gateway.ehr('no-hold').appointments()).filter(({ state }) => state === 'booked');
      expect(booked).toEqual([]);
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(await careUnit.get(draft.id)).toMatchObject({ status: 'cancelled' });
});

test('a hold whose release the EHR rejects does not delay the others', async () => {
  const path = careUnitPath('holds', 'sodermalm');
  const [unreleasable, good] = [await book(gateway, { careUnit: path }), await book(gateway, { careUnit: path })];
  kept.add(unreleasable.id);
  const ids = [unreleasable, good].map((it) => confirmationOf(it).id);
  await rowsOf(gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = ANY($1::uuid[])', [ids]);
  await eventually(async () => {
    const standing = await gateway.ehr('holds').appointments();
    expect(standing.find(({ id }) => id === good.id)).toMatchObject({ state: 'cancelled' });
  });
});
