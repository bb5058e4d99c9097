/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  book,
  bookEach,
  consecutiveSlots,
  freeSlots,
  idsIn,
  local,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  expireCode,
  messages,
  messagesAbout,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { expectFaults, expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const from = (first: Slot, last: Slot) => ({ start: first.start, end: last.end });
const someId = expect.stringMatching(/^\S+$/) as string;

/** Six consecutive slots, so that a range has free time on both sides. */
async function sixSlots(resourceId: string, careUnit = oslo): Promise<[Slot, Slot, Slot, Slot, Slot, Slot]> {
  return (await consecutiveSlots(gateway, 6, { resourceId, careUnit, limit: 200 })) as [
    Slot,
    Slot,
    Slot,
    Slot,
    Slot,
    Slot,
  ];
}

/** Sends the request, and checks that the appointments match the response. */
async function done(careUnit: typeof norway, ids: readonly string[], body: object): Promise<readonly Appointment[]> {
  const { status, body: response, text } = await careUnit.changeMany(ids, body);
  expect({ status, text }).toMatchObject({ status: 200 });
  return response.appointments;
}

describe('ids are assigned to the slots of the range', () => {
  test('an appointment on a slot keeps it, and the others follow by their current start', async () => {
    const [s1, s2, s3, s4, s5] = await sixSlots('r-1');
    const [a, b, c] = (await bookEach(gateway, [s1, s2, s4])) as [Appointment, Appointment, Appointment];
    const appointments = await done(norway, idsIn([c, b, a]), from(s3, s5));
    expect(appointments).toEqual([
      { ...a, ...at(s3) },
      { ...c, ...at(s4) },
      { ...b, ...at(s5) },
    ]);
    expect(await norway.getAll(idsIn([a, c, b]))).toEqual(appointments);
  });

  test('the order of ids does not matter', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-1');
    const [a, b] = (await bookEach(gateway, [s1, s2])) as [Appointment, Appointment];
    const there = await done(norway, [b.id, a.id], from(s3, s4));
    expect(there.map(({ id, start }) => [id, start])).toEqual([
      [a.id, s3.start],
      [b.id, s4.start],
    ]);
    const back = await done(norway, [a.id, b.id], from(s1, s2));
    expect(back).toEqual([a, b]);
  });

  test('each appointment takes exactly one slot, however long it was', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-2');
    const hour = (await norway.change((await book(gateway, { slot: s1 })).id, from(s1, s2))).body;
    expect(hour).toMatchObject(from(s1, s2));
    const next = await book(gateway, { slot: s3 });
    expect(await done(norway, [hour.id, next.id], from(s3, s4))).toEqual([
      { ...next, ...at(s3) },
      { ...hour, ...at(s4) },
    ]);
    // Its previous time is free.
    const free = (await freeSlots(gateway, { resourceId: 'r-2' })).map(({ start }) => start);
    expect(free).toEqual(expect.arrayContaining([s1.start, s2.start]));
  });

  test("the appointments' own times count as free", async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-2');
    const before = await bookEach(gateway, [s1, s2, s3]);
    const moved = await done(norway, idsIn(before), from(s2, s4));
    expect(moved.map(({ start }) => start)).toEqual([s2.start, s3.start, s4.start]);
    expect(new Set(idsIn(moved))).toEqual(new Set(idsIn(before)));
  });

  test('a range that the appointments already occupy changes nothing', async () => {
    const [s1, s2] = await sixSlots('r-3');
    const before = await bookEach(gateway, [s1, s2], { comment: 'kept' });
    expect(await done(norway, idsIn(before), from(s1, s2))).toEqual(before);
  });

  test('a range can be local time, or have any offset', async () => {
    const [s1, , s3, s4] = await sixSlots('r-3');
    const mine = await book(gateway, { slot: s1 });
    expect(await done(norway, [mine.id], { start: local(s3.start), end: local(s3.end) })).toEqual([
      { ...mine, ...at(s3) },
    ]);
    const utc = { start: new Date(s4.start).toISOString(), end: new Date(s4.end).toISOString() };
    expect(await done(norway, [mine.id], utc)).toEqual([{ ...mine, ...at(s4) }]);
  });
});

describe('a longer range', () => {
  test('creates appointments of the same patient, resource, service and care unit', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-4');
    const mine = await book(gateway, {
      slot: { ...s2, healthcare_service_id: 'vaccination' },
      patientId: 'p-9',
      comment: 'mine',
    });
    const appointments = await done(norway, [mine.id], from(s1, s4));
    const created = (slot: Slot) => ({ ...mine, ...at(slot), id: someId, comment: null });
    expect(appointments).toEqual([created(s1), mine, created(s3), created(s4)]);
    expect(new Set(idsIn(appointments)).size).toBe(4);
    expect(await norway.getAll(idsIn(appointments))).toEqual(appointments);
    const listed = await norway.list('patient_id=p-9');
    expect(listed).toEqual(appointments);
  });

  test('has at most 100 slots', async () => {
    const room = roomId('r-5');
    await gateway.ehr('sandbox-no').openAroundTheClock(room, 15);
    const slots = await consecutiveSlots(gateway, 102, { resourceId: room, days: 4, limit: 200 });
    const [first, second, last, tooLate] = [slots[0], slots[1], slots[100], slots[101]] as [Slot, Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    const rejected = await norway.changeMany([mine.id], from(second, tooLate));
    expectProblem(rejected, 400, 'time_slot_unavailable');
    expect(rejected.body.errors).toMatchObject([{ pointer: '/start', reason: 'time_slot_unavailable' }]);
    expect(rejected.body.detail).toContain('100');
    expect(await norway.get(mine.id)).toEqual(mine);
    const appointments = await done(norway, [mine.id], from(second, last));
    expect(appointments.map(({ start }) => start)).toEqual(slots.slice(1, 101).map(({ start }) => start));
    expect(appointments[0]).toEqual({ ...mine, ...at(second) });
  });
});

describe('a shorter range', () => {
  test('cancels the last appointments and lists them at the end of the response, by start', async () => {
    const [s1, s2, s3, s4, s5] = await sixSlots('r-1');
    const before = (await bookEach(gateway, [s1, s2, s3, s5], { comment: 'old' })) as [
      Appointment,
      Appointment,
      Appointment,
      Appointment,
    ];
    const [a, b, c, d] = before;
    const appointments = await done(norway, idsIn([d, c, b, a]), from(s3, s4));
    expect(appointments).toEqual([
      c,
      { ...a, ...at(s4) },
      { ...b, status: 'cancelled' },
      { ...d, status: 'cancelled' },
    ]);
    expect(await norway.getAll(idsIn(appointments))).toEqual(appointments);
    const free = (await freeSlots(gateway, { resourceId: 'r-1' })).map(({ start }) => start);
    expect(free).toEqual(expect.arrayContaining([s1.start, s2.start, s5.start]));
  });

  test('frees the time of cancelled appointments for the others', async () => {
    const [s1, , s3, s4] = await sixSlots('r-2');
    const first = await book(gateway, { slot: s1 });
    const hour = (await norway.change((await book(gateway, { slot: s3 })).id, from(s3, s4))).body;
    expect(await done(norway, [first.id, hour.id], from(s3, s3))).toEqual([
      { ...first, ...at(s3) },
      { ...hour, status: 'cancelled' },
    ]);
  });
});

describe('with resource_id', () => {
  test('the slots are those of the new resource', { tags: 'every-ehr' }, async () => {
    // Nothing else is booked this late in the day.
    const from20Days = { resourceId: 'r-4', from: new Date(Date.now() + 20 * 86_400_000) };
    const [s1, s2, s3] = (await consecutiveSlots(gateway, 3, from20Days)) as [Slot, Slot, Slot];
    const [a, b] = (await bookEach(gateway, [s1, s2])) as [Appointment, Appointment];
    // The appointments are with another resource, whose time does not count. On the new resource, the range is taken.
    const blocker = await book(gateway, { slot: { ...s2, resource_id: 'emr_id:r-3' }, patientId: 'p-5' });
    const there = { ...from(s1, s3), resource_id: 'emr_id:r-3', comment: 'moved' };
    expectProblem(await norway.changeMany([a.id, b.id], there), 400, 'time_slot_unavailable');
    expect(await norway.getAll([a.id, b.id])).toEqual([a, b]);

    await norway.cancel(blocker.id);
    const changed = { resource_id: 'emr_id:r-3', comment: 'moved' };
    const appointments = await done(norway, [a.id, b.id], there);
    expect(appointments).toEqual([
      { ...a, ...changed },
      { ...b, ...changed },
      { ...a, ...at(s3), ...changed, id: someId },
    ]);
    expect(await norway.getAll(idsIn(appointments))).toEqual(appointments);
    const free4 = (await freeSlots(gateway, from20Days)).map(({ start }) => start);
    expect(free4).toEqual(expect.arrayContaining([s1.start, s2.start]));
  });

  test('cancelled appointments keep their resource and comment', async () => {
    const [s1, s2] = await sixSlots('r-4');
    const [a, b] = (await bookEach(gateway, [s1, s2], { comment: 'old' })) as [Appointment, Appointment];
    const [target] = (await consecutiveSlots(gateway, 1, { resourceId: 'r-3' })) as [Slot];
    const body = { ...at(target), resource_id: 'r-3', comment: 'new' };
    expect(await done(norway, [a.id, b.id], body)).toEqual([
      { ...a, ...at(target), resource_id: 'emr_id:r-3', comment: 'new' },
      { ...b, status: 'cancelled' },
    ]);
  });

  test('a comment alone applies to kept, moved and created appointments, and an empty one clears it', async () => {
    const [s1, s2, s3] = await sixSlots('r-4');
    const [a, b] = (await bookEach(gateway, [s1, s3], { comment: 'old' })) as [Appointment, Appointment];
    const commented = await done(norway, [a.id, b.id], { ...from(s1, s3), comment: 'new' });
    expect(commented.map(({ start, comment }) => [start, comment])).toEqual([
      [s1.start, 'new'],
      [s2.start, 'new'],
      [s3.start, 'new'],
    ]);
    const cleared = await done(norway, idsIn(commented), { ...from(s1, s2), comment: '' });
    expect(cleared.map(({ status, comment }) => [status, comment])).toEqual([
      ['booked', null],
      ['booked', null],
      ['cancelled', 'new'],
    ]);
  });
});

describe('is rejected, and changes nothing,', () => {
  test('when the ids differ in patient, resource or healthcare service', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-1');
    const mine = await book(gateway, { slot: s1 });
    const same = await book(gateway, { slot: s2 });
    const others = [
      await book(gateway, { slot: s3, patientId: 'p-5' }),
      await book(gateway, { slot: { ...s4, healthcare_service_id: 'vaccination' } }),
      await book(gateway, { resourceId: 'r-2' }),
    ];
    for (const other of others) {
      for (const more of [{}, { resource_id: 'r-2' }, { resource_id: 'r-1', comment: 'x' }]) {
        const response = await norway.changeMany([mine.id, other.id, same.id], { ...from(s1, s2), ...more });
        expectProblem(response, 400, 'appointments_not_alike');
        expect(response.body.errors).toMatchObject([
          { pointer: '/ids/1', id: other.id, reason: 'appointments_not_alike' },
        ]);
      }
      expect(await norway.getAll([mine.id, other.id, same.id])).toEqual([mine, other, same]);
    }
  });

  test('when the range has a gap, which the error names', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-2');
    const mine = await book(gateway, { slot: s1 });
    await book(gateway, { slot: s3, patientId: 'p-5' });
    const response = await norway.changeMany([mine.id], { ...from(s1, s4), comment: 'never' });
    expectProblem(response, 400, 'time_slot_unavailable');
    expect(response.body.errors).toMatchObject([{ pointer: '/start', reason: 'time_slot_unavailable' }]);
    expect(response.body.detail).toContain(`from ${s3.start} to ${s3.end}`);
    expect(await norway.get(mine.id)).toEqual(mine);
    expect((await freeSlots(gateway, { resourceId: 'r-2' })).map(({ start }) => start)).toContain(s2.start);
  });

  test('when the range includes the lunch break', async () => {
    const slots = await freeSlots(gateway, { resourceId: 'r-3' });
    const index = slots.findIndex(
      (it, next) => local(it.end).endsWith('12:00:00') && local(slots[next + 1]?.start ?? '').endsWith('13:00:00'),
    );
    const [before, after] = slots.slice(index) as [Slot, Slot];
    const mine = await book(gateway, { slot: before });
    const response = await norway.changeMany([mine.id], from(before, after));
    expectProblem(response, 400, 'time_slot_unavailable');
    expect(response.body.detail).toContain(`from ${before.end} to ${after.start}`);
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('when the range does not start and end with a slot', async () => {
    const [s1, s2, s3] = await sixSlots('r-3');
    const mine = await book(gateway, { slot: s1 });
    const shifted = (time: string, minutes: number) => new Date(Date.parse(time) + minutes * 60_000).toISOString();
    for (const range of [
      { start: shifted(s2.start, 10), end: s3.end },
      { start: s2.start, end: shifted(s3.end, -10) },
      { start: shifted(s2.start, 5), end: shifted(s2.end, -5) },
      { start: shifted(s2.start, 15), end: shifted(s2.end, 15) },
      { start: s2.start, end: shifted(s3.end, 7 * 24 * 60) },
      { start: shifted(s2.start, 12 * 60), end: shifted(s2.end, 12 * 60) },
    ]) {
      expectProblem(await norway.changeMany([mine.id], range), 400, 'time_slot_unavailable');
    }
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('when the range is empty or in the past', async () => {
    const [s1, s2] = await sixSlots('r-3');
    const mine = await book(gateway, { slot: s1 });
    for (const range of [
      { start: s2.end, end: s2.start },
      { start: s2.start, end: s2.start },
      { start: '2020-03-20T09:00:00', end: '2020-03-20T10:00:00' },
      { start: s2.start, end: new Date(Date.parse(s2.start) + 32 * 86_400_000).toISOString() },
    ]) {
      expectProblem(await norway.changeMany([mine.id], range), 400, 'time_range_invalid');
    }
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('when one of the ids is cancelled, awaits a code, or does not exist', async () => {
    const [s1, s2, s3] = await sixSlots('r-1', sodermalm);
    const mine = await bookByCode(gateway, { slot: s1 });
    const held = await book(gateway, { careUnit: sodermalm, slot: s2 });
    const given = await book(gateway, { careUnit: sodermalm, slot: s3 });
    await sweden.cancel(given.id);
    for (const [id, status, reason] of [
      [held.id, 409, 'appointment_awaiting_confirmation'],
      [given.id, 409, 'appointment_cancelled'],
      ['nothing', 400, 'appointment_not_found'],
    ] as const) {
      const response = await sweden.changeMany([mine.id, id], from(s1, s3));
      const reportedId = reason === 'appointment_not_found' ? undefined : id;
      expectFaults(response, { status, reason, errors: [[1, reportedId, reason]] });
    }
    expect(await sweden.get(mine.id)).toEqual(mine);
  });
});

describe('in sandbox-se', () => {
  test('created appointments await one code together, and booked ones need none', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-2', sodermalm);
    const mine = await bookByCode(gateway, { slot: s3 });
    const sent = (await messages(gateway)).length;
    const appointments = await done(sweden, [mine.id], { ...from(s1, s4), comment: 'together' });
    expect(appointments.map(({ start, status, comment }) => [start, status, comment])).toEqual([
      [s1.start, 'awaiting_confirmation', 'together'],
      [s2.start, 'awaiting_confirmation', 'together'],
      [s3.start, 'booked', 'together'],
      [s4.start, 'awaiting_confirmation', 'together'],
    ]);
    const [a, b, kept, d] = appointments as [Appointment, Appointment, Appointment, Appointment];
    expect(kept).toEqual({ ...mine, comment: 'together' });
    expect(new Set([a, b, d].map((it) => confirmationOf(it).id)).size).toBe(1);
    const [message] = await messagesAbout(gateway, a.id);
    expect(message?.text).toContain('3 tider');
    expect(await messages(gateway)).toHaveLength(sent + 1);
    const { body } = await sweden.confirmMany(idsIn([d, a]), await codeFor(gateway, a.id));
    expect(body.appointments.map(({ id, status }) => [id, status])).toEqual([
      [d.id, 'booked'],
      [a.id, 'booked'],
    ]);
    expect(await sweden.get(b.id)).toMatchObject({ status: 'awaiting_confirmation' });
  });

  test('holds expire, and booked appointments stay', { tags: 'every-ehr' }, async () => {
    const [s1, s2] = await sixSlots('r-3', sodermalm);
    const mine = await bookByCode(gateway, { slot: s1 });
    const [kept, created] = (await done(sweden, [mine.id], from(s1, s2))) as [Appointment, Appointment];
    await expireCode(gateway, created);
    expect(await sweden.get(created.id)).toMatchObject({ status: 'cancelled' });
    expect(await sweden.get(mine.id)).toEqual(kept);
  });

  test('extra appointments are cancelled directly', async () => {
    const [s1, s2, s3] = await sixSlots('r-3', sodermalm);
    const a = await bookByCode(gateway, { slot: s1 });
    const b = await bookByCode(gateway, { slot: s2 });
    expect(await done(sweden, [a.id, b.id], at(s3))).toEqual([
      { ...a, ...at(s3) },
      { ...b, status: 'cancelled' },
    ]);
  });
});

describe('in sandbox-uk', () => {
  test('new appointments are booked directly', async () => {
    const [s1, s2] = await sixSlots('r-1', riverside);
    const mine = await book(gateway, { careUnit: riverside, slot: s1 });
    expect(await done(uk, [mine.id], from(s1, s2))).toEqual([mine, { ...mine, ...at(s2), id: someId }]);
  });

  test('extra appointments await one code together, under NEW ids, and keep their time', async () => {
    const [s1, s2, s3, s4] = await sixSlots('r-1', riverside);
    const more = { careUnit: riverside, comment: 'old' };
    const [a, b, c] = (await bookEach(gateway, [s1, s3, s4], more)) as [Appointment, Appointment, Appointment];
    const appointments = await done(uk, idsIn([c, a, b]), { ...at(s2), comment: 'new' });
    const [moved, forB, forC] = appointments as [Appointment, Appointment, Appointment];
    expect(appointments).toEqual([
      { ...a, ...at(s2), comment: 'new' },
      ...[b, c].map((it) => ({
        ...it,
        id: someId,
        status: 'awaiting_confirmation',
        replaces_id: it.id,
        confirmation: expect.objectContaining({ kind: 'cancellation' }),
      })),
    ]);
    expect(confirmationOf(forB)).toEqual(confirmationOf(forC));
    expect(await uk.getAll(idsIn([a, b, c]))).toEqual([moved, b, c]);
    const [message] = await messagesAbout(gateway, forB.id);
    expect(message?.text).toContain('cancel 2 appointments');
    expect((await uk.confirmMany([forB.id, forC.id], await codeFor(gateway, forB.id))).status).toBe(200);
    // The comment does not apply to them.
    expect(await uk.getAll(idsIn([b, c]))).toEqual([b, c].map((it) => ({ ...it, status: 'cancelled' })));
  });

  test('an extra appointment whose cancellation would need a code blocks its part of the range', async () => {
    const [s1, , s3, s4] = await sixSlots('r-2', riverside);
    const first = await book(gateway, { careUnit: riverside, slot: s1 });
    const { id } = await book(gateway, { careUnit: riverside, slot: s3 });
    const { body: hour } = await uk.change(id, from(s3, s4));
    const response = await uk.changeMany([first.id, hour.id], at(s4));
    expectProblem(response, 400, 'time_slot_unavailable');
    expect(response.body.errors).toMatchObject([{ id: hour.id, reason: 'time_slot_unavailable' }]);
    expect(await uk.getAll([first.id, hour.id])).toEqual([first, hour]);
    expect(await rowsOf(gateway, 'SELECT FROM confirmation_items WHERE ehr_appointment_id = $1', [hour.id])).toEqual(
      [],
    );
    // With another resource it does not.
    const elsewhere = await done(uk, [first.id, hour.id], { ...at(s4), resource_id: 'r-3' });
    expect(elsewhere).toMatchObject([
      { id: first.id, ...at(s4), resource_id: 'emr_id:r-3' },
      { replaces_id: hour.id, status: 'awaiting_confirmation', resource_id: 'emr_id:r-2' },
    ]);
  });

  test('an extra appointment that already awaits its code keeps it', async () => {
    const [s1, s2, s3] = await sixSlots('r-4', riverside);
    const [a, b] = (await bookEach(gateway, [s1, s3], { careUnit: riverside })) as [Appointment, Appointment];
    const { body: view } = await uk.cancel(b.id);
    const appointments = await done(uk, [a.id, b.id], at(s2));
    expect(appointments).toMatchObject([
      { id: a.id, ...at(s2) },
      { id: view.id, status: 'awaiting_confirmation', confirmation: { id: confirmationOf(view).id } },
    ]);
    expectProblem(await uk.changeMany([a.id, view.id], at(s1)), 409, 'appointment_awaiting_confirmation');
    expect(await uk.confirm(view.id, await codeFor(gateway, view.id))).toMatchObject({ body: { status: 'cancelled' } });
  });

  test('nothing changes for a patient without contact details', async () => {
    const [s1, s2, s3] = await sixSlots('r-3', riverside);
    const more = { careUnit: riverside, patientId: 'p-20' };
    const before = await bookEach(gateway, [s1, s2], more);
    expectProblem(await uk.changeMany(idsIn(before), at(s3)), 409, 'no_contact_channel');
    expect(await uk.getAll(idsIn(before))).toEqual(before);
    // Changes that need no code are made.
    const [a, b] = before as [Appointment, Appointment];
    expect(await done(uk, [a.id, b.id], from(s2, s3))).toEqual([b, { ...a, ...at(s3) }]);
  });
});
