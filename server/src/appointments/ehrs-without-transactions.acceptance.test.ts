/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { failableWrites } from '../../../test/ehrs/failing-writes.ts';
import { checking, withoutHolds, withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  book,
  bookEach,
  consecutiveSlots,
  freeSlots,
  idsIn,
  nextMonth,
  type Slot,
} from '../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf, codeFor } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const writes = failableWrites();
const { fail, stopFailing } = writes;
beforeEach(writes.reset);

function withThreeAtOnce(connector: Connector): Connector {
  const capabilities = { ...connector.capabilities, changesPerTransaction: 3 };
  return checking({ ...connector, capabilities }, (write) => {
    if (write.changes.length > 3) throw new Error('This EHR takes three changes at a time');
  });
}

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      let other = writes.failable(connector);
      if (emr.startsWith('no-hold')) other = withoutHolds(other);
      if (emr.endsWith('no-transactions')) other = withoutTransactions(other);
      if (emr === 'three-at-once') other = withThreeAtOnce(other);
      return other;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'no-transactions', like: 'sandbox-no', policies: {} },
      { id: 'three-at-once', like: 'sandbox-no', policies: {} },
      { id: 'no-hold-no-transactions', like: 'sandbox-se', policies: {} },
      { id: 'se-no-transactions', like: 'sandbox-se', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

// Medplum's router has no transactions.
if (inject('ehrKind') !== 'medplum')
  describe('an EHR whose transactions have at most three changes', () => {
    const path = careUnitPath('three-at-once', 'oslo-sentrum');
    const careUnit = careUnitOf(gateway, path);
    const bookFour = async () =>
      bookEach(gateway, await consecutiveSlots(gateway, 4, { careUnit: path, resourceId: 'r-1' }), {
        careUnit: path,
        comment: 'old',
      });
    const withThird = (booked: readonly Appointment[]) => booked.map((it) => ({ ...it, resource_id: 'emr_id:r-3' }));

    test('gets three changes in one transaction, and four as separate writes', async () => {
      const booked = await bookFour();
      const three = booked.slice(1);
      writes.calls = 0;
      expect(await careUnit.changeMany(idsIn(three), { resource_id: 'r-3' })).toMatchObject({
        status: 200,
        body: { appointments: withThird(three) },
      });
      expect(writes.calls).toBe(1);
      writes.calls = 0;
      expect(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-1', comment: 'new' })).toMatchObject({
        status: 200,
        body: { appointments: booked.map((it) => ({ ...it, comment: 'new' })) },
      });
      expect(writes.calls).toBe(4);
    });

    test('is compensated if the last of four changes fails', async () => {
      const booked = await bookFour();
      fail(3, 'rejected');
      expectProblem(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-3' }), 502, 'ehr_rejected');
      expect(writes.calls).toBe(5);
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
    });
  });

describe('an EHR without transactions', () => {
  const path = careUnitPath('no-transactions', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);

  test('gets one write for each change, and the response is the same as for other EHRs', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-1' });
    const booked = await bookEach(gateway, slots, { careUnit: path, comment: 'old' });
    const ids = idsIn(booked).toReversed();
    writes.calls = 0;
    const moved = await careUnit.changeMany(ids, { resource_id: 'r-2' });
    expect(moved.status).toBe(200);
    expect(moved.body.appointments).toEqual(booked.toReversed().map((it) => ({ ...it, resource_id: 'emr_id:r-2' })));
    expect(writes.calls).toBe(3);
    const cancelled = await careUnit.changeMany(ids, { status: 'cancelled', comment: 'all' });
    expect(cancelled.body.appointments.map(({ id, status, comment }) => [id, status, comment])).toEqual(
      ids.map((id) => [id, 'cancelled', 'all']),
    );
  });

  test('gets no write if the request is rejected', async () => {
    const [s1, s2] = (await consecutiveSlots(gateway, 2, { careUnit: path, resourceId: 'r-3', from: nextMonth() })) as [
      Slot,
      Slot,
    ];
    const [a, b] = (await bookEach(gateway, [s1, s2], { careUnit: path })) as [Appointment, Appointment];
    await book(gateway, { careUnit: path, slot: { ...s2, resource_id: 'emr_id:r-4' } });
    writes.calls = 0;
    expectProblem(await careUnit.changeMany([a.id, b.id], { resource_id: 'r-4' }), 400, 'time_slot_unavailable');
    expectProblem(await careUnit.changeMany([a.id, 'nothing'], { status: 'cancelled' }), 400, 'appointment_not_found');
    expect(writes.calls).toBe(0);
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
  });

  test.each([
    ['rejected', 502, 'ehr_rejected'],
    ['unavailable', 503, 'ehr_unavailable'],
    ['time_slot_unavailable', 400, 'time_slot_unavailable'],
    ['appointment_cancelled', 409, 'appointment_cancelled'],
  ] as const)('is compensated if a later change fails: %s', async (kind, status, reason) => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-3' });
    const booked = await bookEach(gateway, slots, { careUnit: path, comment: 'old' });
    for (const call of [1, 2, 3]) {
      stopFailing();
      fail(call, kind);
      expectProblem(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-4', comment: 'new' }), status, reason);
      expect(writes.calls).toBe(call + (call - 1));
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
    }
  });

  test('is compensated if a reschedule fails: moves are reversed, and created appointments are released', {
    tags: 'every-ehr',
  }, async () => {
    const slots = await consecutiveSlots(gateway, 5, { careUnit: path, resourceId: 'r-4' });
    const [s1, s2, s3, s4, s5] = slots as [Slot, Slot, Slot, Slot, Slot];
    const booked = await bookEach(gateway, [s1, s2], { careUnit: path, patientId: 'p-9' });
    const free = async () =>
      (await freeSlots(gateway, { careUnit: path, resourceId: 'r-4' })).map(({ start }) => start);
    const before = await free();
    for (const call of [1, 2, 3, 4]) {
      stopFailing();
      fail(call, 'rejected');
      const range = { start: s2.start, end: s5.end, comment: 'never' };
      expectProblem(await careUnit.changeMany(idsIn(booked), range), 502, 'ehr_rejected');
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
      expect(await free()).toEqual(before);
      expect(await careUnit.list('patient_id=p-9&status=booked')).toEqual(booked);
    }
    stopFailing();
    const { body } = await careUnit.changeMany(idsIn(booked), { start: s2.start, end: s5.end });
    expect(body.appointments.map(({ start, status }) => [start, status])).toEqual(
      [s2, s3, s4, s5].map(({ start }) => [start, 'booked']),
    );
    const shorter = await careUnit.changeMany(idsIn(body.appointments), at(s3));
    expect(shorter.body.appointments.map(({ start, status }) => [start, status])).toEqual([
      [s3.start, 'booked'],
      [s2.start, 'cancelled'],
      [s4.start, 'cancelled'],
      [s5.start, 'cancelled'],
    ]);
  });

  test('frees the time of appointments that a reschedule cancels before it moves others there', async () => {
    const slots = await consecutiveSlots(gateway, 4, { careUnit: path, resourceId: 'r-1' });
    const [s1, , s3, s4] = slots as [Slot, Slot, Slot, Slot];
    const first = await book(gateway, { careUnit: path, slot: s1 });
    const { id } = await book(gateway, { careUnit: path, slot: s3 });
    const { body: hour } = await careUnit.change(id, { start: s3.start, end: s4.end });
    const { status, body } = await careUnit.changeMany([first.id, hour.id], at(s3));
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...first, ...at(s3) },
      { ...hour, status: 'cancelled' },
    ]);
  });

  test('lets one appointment take the time that another one leaves', async () => {
    const slots = await consecutiveSlots(gateway, 4, { careUnit: path, resourceId: 'r-2' });
    const [s1, s2, s3, s4] = slots as [Slot, Slot, Slot, Slot];
    const hours: Appointment[] = [];
    for (const [from, until] of [
      [s1, s2],
      [s3, s4],
    ] as const) {
      const { id } = await book(gateway, { careUnit: path, slot: from });
      hours.push((await careUnit.change(id, { start: from.start, end: until.end })).body);
    }
    const { status, body } = await careUnit.changeMany(idsIn(hours), { start: s3.start, end: s4.end });
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...hours[0], ...at(s3) },
      { ...hours[1], ...at(s4) },
    ]);
  });

  test('confirms several appointments with one write each', async () => {
    for (const emr of ['se-no-transactions', 'no-hold-no-transactions']) {
      const there = careUnitPath(emr, 'sodermalm');
      const { changeMany, confirmMany, getAll } = careUnitOf(gateway, there);
      const slots = await consecutiveSlots(gateway, 3, { careUnit: there, resourceId: 'r-3' });
      const [first, , last] = slots as [Slot, Slot, Slot];
      const mine = await bookByCode(gateway, { careUnit: there, slot: first });
      const { body } = await changeMany([mine.id], { start: first.start, end: last.end });
      const waiting = idsIn(body.appointments.slice(1)).toReversed();
      const code = await codeFor(gateway, body.appointments[1]?.id ?? '');
      const { status, body: confirmed } = await confirmMany(waiting, code);
      expect(status).toBe(200);
      expect(confirmed.appointments.map((it) => [it.id, it.status])).toEqual(waiting.map((id) => [id, 'booked']));
      expect(await getAll(waiting)).toEqual(confirmed.appointments);
    }
  });
});
