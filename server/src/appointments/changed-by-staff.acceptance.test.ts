/** @module-tag any-database */
import { describe, expect, test } from 'vitest';
import type { Ehr } from '../../../test/ehrs/ehr.ts';
import { withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { calledWhileUnavailable } from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
  bookEach,
  consecutiveSlots,
  freeSlots,
  idsIn,
  nextMonth,
  type Slot,
} from '../../../test/requests/bookings.ts';
import { type AppointmentsResponse, careUnitOf, eventually } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: [{ id: 'no-transactions', like: 'sandbox-no' }],
  limited: (faulty, emr) => (emr === 'no-transactions' ? withoutTransactions(faulty) : faulty),
});

const path = careUnitPath('no-transactions', 'oslo-sentrum');
const careUnit = careUnitOf(gateway, path);
const ehr = ehrs.of('no-transactions');
const staff = gateway.ehr('no-transactions');

/** Three appointments that can be moved to the second resource. */
async function bookThree(): Promise<[Appointment, Appointment, Appointment]> {
  const search = { careUnit: path, from: nextMonth() };
  const there = (await freeSlots(gateway, { ...search, resourceId: 'r-2' })).map(({ start }) => start);
  const slots = (await freeSlots(gateway, search)).filter(({ start }) => there.includes(start)).slice(0, 3);
  return (await bookEach(gateway, slots, { careUnit: path, comment: 'old' })) as [
    Appointment,
    Appointment,
    Appointment,
  ];
}
const moved = { resource_id: 'r-2' };

/** The appointment as staff left it. The test reads the time of the change from the EHR. */
interface Left {
  appointment?: Appointment;
}

const edits: readonly (readonly [string, (ehr: Ehr, id: string) => Promise<void>])[] = [
  ['given another comment', (it, id) => it.comment(id, 'by staff')],
  ['moved', (it, id) => it.moveBack(id, -20)],
  ['cancelled', (it, id) => it.cancel(id)],
];

function expectOutcomes(response: AppointmentsResponse, ids: readonly string[], changed: readonly boolean[]): void {
  expectProblem(response, 502, 'partially_applied');
  expect(response.body.errors.map(({ id, pointer }) => [id, pointer])).toEqual(
    ids.map((id, index) => [id, `/ids/${index}`]),
  );
  const details = response.body.errors.map(({ detail }) => detail);
  const [asItWas] = details.filter((_, index) => !changed[index]);
  expect(details.map((detail) => detail !== asItWas)).toEqual(changed);
}

describe('a bulk change is compensated, except for appointments that staff changed in the meantime', () => {
  test.each(edits)('when a later change is rejected and the first appointment was %s', async (_, edit) => {
    const [first, second, third] = await bookThree();
    const ids = idsIn([first, second, third]);
    const left: Left = {};
    ehr.failNext('rejected', {
      after: 2,
      async meanwhile() {
        await edit(staff, first.id);
        left.appointment = await careUnit.get(first.id);
      },
    });
    const response = await careUnit.changeMany(ids, moved);
    expect(await careUnit.get(first.id)).toEqual(left.appointment);
    expect(await careUnit.getAll([second.id, third.id])).toEqual([second, third]);
    expectOutcomes(response, ids, [true, false, false]);
  });

  // Changes are compensated in reverse order, so the second appointment is compensated before the first.
  test.each(edits)('when the EHR was unavailable in between and the second appointment was %s', async (_, edit) => {
    const [first, second, third] = await bookThree();
    ehr.failNext('rejected', { after: 2, meanwhile: async () => ehr.goDown() });
    const response = await careUnit.changeMany(idsIn([first, second, third]), moved);
    expectProblem(response, 504, 'outcome_unknown');
    await calledWhileUnavailable(ehr);
    await edit(staff, second.id);
    ehr.comeUp();
    const left = await careUnit.get(second.id);
    await eventually(async () => expect(await careUnit.getAll([first.id, third.id])).toEqual([first, third]));
    expect(await careUnit.get(second.id)).toEqual(left);
  });

  test('including appointments that a reschedule created', { tags: 'every-ehr' }, async () => {
    const [s1, s2, s3] = (await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-3' })) as [
      Slot,
      Slot,
      Slot,
    ];
    const [mine] = (await bookEach(gateway, [s1], { careUnit: path, patientId: 'p-9' })) as [Appointment];
    const made: string[] = [];
    ehr.failNext('rejected', {
      kind: 'create',
      after: 1,
      async meanwhile() {
        for (const { id } of await careUnit.list('patient_id=p-9&status=booked')) if (id !== mine.id) made.push(id);
        await staff.comment(made[0] ?? '', 'by staff');
      },
    });
    const response = await careUnit.changeMany([mine.id], { start: s1.start, end: s3.end });
    expectProblem(response, 502, 'partially_applied');
    expect(made).toHaveLength(1);
    const booked = await careUnit.list('patient_id=p-9&status=booked');
    expect(booked).toMatchObject([
      { id: mine.id, start: s1.start },
      { id: made[0], start: s2.start, comment: 'by staff' },
    ]);
  });

  test('appointments that nobody changed are all restored', { tags: 'every-ehr' }, async () => {
    const booked = await bookThree();
    ehr.failNext('rejected', { after: 2 });
    expectProblem(await careUnit.changeMany(idsIn(booked), moved), 502, 'ehr_rejected');
    expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
    const free = await freeSlots(gateway, { careUnit: path, resourceId: 'r-2', from: nextMonth() });
    expect(free.map(({ start }) => start)).toEqual(expect.arrayContaining(booked.map(({ start }) => start)));
  });
});
