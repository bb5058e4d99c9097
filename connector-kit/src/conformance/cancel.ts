import { randomUUID } from 'node:crypto';
import { capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, given, operation } from './expect.ts';
import {
  appointmentsAt,
  book,
  change,
  consecutiveSlots,
  forgetsCancelled,
  freeSlot,
  isFree,
  mustBeCancelled,
  mustRead,
  not,
  read,
  rebooks,
} from './steps.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

export const appointmentsCancel = capability('cancel', ({ capabilities }) => capabilities.changes.includes('cancel'), {
  'cancels an appointment and frees its time': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot, comment: 'kept' });
    const cancelled = await change(subject, { kind: 'cancel', appointmentId: id });
    const now = forgetsCancelled(subject) ? [] : [await mustRead(subject, id)];
    for (const { id: shown, state, comment } of [cancelled, ...now]) {
      expectSame([shown, state, comment], [id, 'cancelled', 'kept'], 'Id, state and comment after cancelling');
    }
    await mustBeCancelled(subject, id, 'State after cancelling');
    expectThat(await isFree(subject, slot), 'The time of a cancelled appointment is not free');
    await book(subject, { slot });
  },

  'replaces the comment if a new one is given': async (subject) => {
    const { id } = await book(subject, { comment: 'first' });
    const { comment } = await change(subject, { kind: 'cancel', appointmentId: id, comment: 'why' });
    expectSame(comment, 'why', 'Comment in the result of a cancellation');
    if (forgetsCancelled(subject)) return;
    expectSame((await mustRead(subject, id)).comment, 'why', 'Comment of a cancelled appointment');
  },

  'rejects to cancel an appointment that is gone because it is cancelled': claimed(
    [forgetsCancelled],
    async (subject) => {
      const slot = await freeSlot(subject);
      const { id } = await book(subject, { slot });
      await change(subject, { kind: 'cancel', appointmentId: id });
      expectThat(
        (await read(subject, id)) === undefined,
        'A cancelled appointment is found, although they are forgotten',
      );
      const next = await book(subject, { slot });
      const again = change(subject, { kind: 'cancel', appointmentId: id });
      await expectRejection(again, 'appointment_cancelled', 'Cancelling an appointment twice');
      expectSame((await mustRead(subject, next.id)).state, 'booked', 'State of the appointment that booked the time');
    },
  ),

  'cancelling a cancelled appointment changes nothing': claimed([not(forgetsCancelled)], async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    await change(subject, { kind: 'cancel', appointmentId: id, comment: 'first' });
    const next = await book(subject, { slot });
    const again = await change(subject, { kind: 'cancel', appointmentId: id, comment: 'second' });
    expectSame([again.state, again.comment], ['cancelled', 'first'], 'State and comment when cancelled twice');
    expectThat(!(await isFree(subject, slot)), 'Cancelling twice frees a time that another appointment has booked');
    expectSame((await mustRead(subject, next.id)).state, 'booked', 'State of the appointment that booked the time');
  }),

  'a patient can have the new appointment and the former one until that is cancelled': claimed(
    [rebooks],
    async (subject) => {
      const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
      const former = await book(subject, { slot: from });
      const next = await book(subject, { slot: to });
      const there = async () => (await appointmentsAt(subject, from, to)).map(({ id }) => id).sort();
      expectSame(await there(), [former.id, next.id].sort(), 'Appointments after the new time was booked too');
      await change(subject, { kind: 'cancel', appointmentId: former.id });
      expectSame(await there(), [next.id], 'Appointments after the former one was cancelled');
    },
  ),

  'rejects an unknown appointment': async (subject) => {
    const unknown = change(subject, { kind: 'cancel', appointmentId: 'no-such-appointment' });
    await expectRejection(unknown, 'appointment_not_found', 'Cancelling an appointment that does not exist');
  },

  'rejects an appointment of another care unit': async (subject) => {
    const careUnit = given(subject.otherCareUnit, 'no other care unit is configured');
    const { id } = await book(subject);
    const changeAppointments = operation(subject.connector, 'changeAppointments');
    const changes = [{ kind: 'cancel', appointmentId: id }] as const;
    const elsewhere = changeAppointments({ operationId: randomUUID(), careUnit, changes });
    await expectRejection(elsewhere, 'appointment_not_found', 'Cancelling an appointment of another care unit');
    expectSame(
      (await mustRead(subject, id)).state,
      'booked',
      'State after a rejected cancellation by another care unit',
    );
  },
});
