import { randomUUID } from 'node:crypto';
import type { AppointmentUpdate } from '../connector.ts';
import { type Appointment, assertComplete } from '../records.ts';
import { capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, facts, given, operation } from './expect.ts';
import { foreignResource } from './resources.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  consecutiveSlots,
  freeSlot,
  isFree,
  moves,
  movesToNewId,
  mustBeCancelled,
  mustRead,
  not,
  rebooks,
  simultaneousSlots,
  takesOneSlot,
} from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

function update(subject: Subject, { id }: Appointment, what: Omit<AppointmentUpdate, 'kind' | 'appointmentId'>) {
  return change(subject, { kind: 'update', appointmentId: id, ...what });
}

export const appointmentsUpdate = capability('update', ({ capabilities }) => capabilities.changes.includes('update'), {
  'moves an appointment and frees its previous time': claimed([moves], async (subject) => {
    const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: from, comment: 'kept' });
    const moved = await update(subject, made, { time: { start: to.start, end: to.end } });
    const now = await mustRead(subject, moved.id);
    expectSame(facts(now), facts(moved), 'A moved appointment, read by id');
    expectSame([now.start, now.end, now.comment], [to.start, to.end, 'kept'], 'Time and comment after the move');
    expectThat(await isFree(subject, from), 'The previous time of a moved appointment is not free');
    expectThat(!(await isFree(subject, to)), 'The new time of a moved appointment is free');
  }),

  'a move gives the appointment a new id, and cancels the former one': claimed([movesToNewId], async (subject) => {
    const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: from, comment: 'first' });
    const moved = await update(subject, made, { time: { start: to.start, end: to.end }, comment: 'second' });
    expectThat(moved.id !== made.id, 'A move keeps the id, although movesToNewId is claimed');
    await mustBeCancelled(subject, made.id, 'State of the former appointment after a move gave a new id');
    expectSame((await mustRead(subject, moved.id)).comment, 'second', 'Comment that came with a move');
    const there = (await appointmentsAt(subject, from, to)).map(({ id }) => id);
    expectSame(there, [moved.id], 'Appointments at both times after a move');
    const again = update(subject, made, { time: { start: from.start, end: from.end } });
    await expectRejection(again, 'appointment_cancelled', 'Moving the former appointment');
    expectThat(await isFree(subject, from), 'A rejected move of the former appointment takes its time');
  }),

  'treats the time of the appointment itself as free': claimed([moves, not(takesOneSlot)], async (subject) => {
    const [first, second] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: first });
    const longer = await update(subject, made, { time: { start: first.start, end: second.end } });
    expectSame([longer.start, longer.end], [first.start, second.end], 'Time of a lengthened appointment');
    const shorter = await update(subject, longer, { time: { start: second.start, end: second.end } });
    expectSame([shorter.start, shorter.end], [second.start, second.end], 'Time of a shortened appointment');
    expectThat(await isFree(subject, first), 'The freed time of a shortened appointment is not free');
  }),

  'moves an appointment to another resource': claimed([moves], async (subject) => {
    const [from, to] = await simultaneousSlots(subject);
    const made = await book(subject, { slot: from });
    const moved = await update(subject, made, { resourceId: to.resourceId });
    expectSame((await mustRead(subject, moved.id)).resourceId, to.resourceId, 'Resource after the move');
    expectThat(await isFree(subject, from), 'The previous resource is not free');
    expectThat(!(await isFree(subject, to)), 'The new resource is free');
  }),

  'rejects a new time or resource if appointments are rebooked, and changes nothing': claimed(
    [rebooks],
    async (subject) => {
      const [mine, other] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
      const made = assertComplete(await book(subject, { slot: mine, comment: 'original' }));
      for (const what of [{ time: { start: other.start, end: other.end } }, { resourceId: made.resourceId }]) {
        const move = update(subject, made, { ...what, comment: 'changed' });
        await expectRejection(move, 'unsupported', 'A new time or resource, although appointments are rebooked,');
      }
      expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment after a rejected move');
      expectThat(await isFree(subject, other), 'The new time is not free after a rejected move');
    },
  ),

  'changes and clears only the comment': async (subject) => {
    const made = await book(subject, { comment: 'first' });
    for (const comment of ['second', null]) {
      const result = await update(subject, made, { comment });
      const now = await mustRead(subject, result.id);
      expectSame(facts(now), { ...facts(made), comment }, 'An appointment after a comment update');
    }
  },

  'rejects a move to a booked time and changes nothing': claimed([moves], async (subject) => {
    const [mine, taken] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: mine, comment: 'original' });
    await book(subject, { slot: taken });
    for (const time of [
      { start: taken.start, end: taken.end },
      { start: mine.start, end: taken.end },
    ]) {
      const move = update(subject, made, { time, comment: 'changed' });
      await expectRejection(move, 'time_slot_unavailable', 'Moving to a booked time');
    }
    expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment after a rejected move');
    expectThat(!(await isFree(subject, mine)), 'The time of an appointment is free after a rejected move');
  }),

  'rejects a move to an unknown resource': claimed([moves], async (subject) => {
    const made = await book(subject);
    const unknown = update(subject, made, { resourceId: 'no-such-resource' });
    await expectRejection(unknown, 'resource_not_found', 'Moving to a resource that does not exist');
    expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment after a rejected move');
  }),

  'rejects a move to a resource of another care unit': claimed([moves], async (subject) => {
    const { id } = await foreignResource(subject);
    const made = await book(subject);
    const elsewhere = update(subject, made, { resourceId: id });
    await expectRejection(elsewhere, ['resource_not_found', 'time_slot_unavailable'], 'Moving to another care unit');
    expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment after a rejected move');
  }),

  'rejects an update of a cancelled appointment': claimed([changes('cancel')], async (subject) => {
    const slot = await freeSlot(subject);
    const made = await book(subject, { slot });
    await change(subject, { kind: 'cancel', appointmentId: made.id });
    const move = update(subject, made, { comment: 'changed' });
    await expectRejection(move, 'appointment_cancelled', 'Updating a cancelled appointment');
    expectThat(await isFree(subject, slot), 'The time of a cancelled appointment is no longer free');
  }),

  'rejects an update of an unknown appointment': async (subject) => {
    const unknown = change(subject, { kind: 'update', appointmentId: 'no-such-appointment', comment: 'x' });
    await expectRejection(unknown, 'appointment_not_found', 'Updating an appointment that does not exist');
  },

  'rejects an update of an appointment of another care unit': async (subject) => {
    const careUnit = given(subject.otherCareUnit, 'no other care unit is configured');
    const made = await book(subject);
    const changes = [{ kind: 'update', appointmentId: made.id, comment: 'x' }] as const;
    const elsewhere = operation(
      subject.connector,
      'changeAppointments',
    )({ operationId: randomUUID(), careUnit, changes });
    await expectRejection(elsewhere, 'appointment_not_found', 'Updating an appointment of another care unit');
    expectSame(
      facts(await mustRead(subject, made.id)),
      facts(made),
      'An appointment after a rejected update by another care unit',
    );
  },
});
