import type { Appointment } from '../records.ts';
import { capability, claimed } from './check.ts';
import { directChange, expectRejection, expectSame, expectThat, given } from './expect.ts';
import {
  book,
  change,
  changes,
  consecutiveSlots,
  freeSlot,
  isFree,
  moves,
  mustBeCancelled,
  mustRead,
} from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

export const concurrentEdits = capability('concurrent-edits', (connector) => connector.findAppointments !== undefined, {
  'a cancellation in the EHR is visible and is kept': async (subject) => {
    const cancel = directChange(subject, 'cancel');
    const made = await book(subject);
    await cancel(made);
    await mustBeCancelled(subject, made.id, 'State of an appointment that was cancelled in the EHR');
    if (!subject.connector.capabilities.changes.includes('update')) return;
    const update = change(subject, { kind: 'update', appointmentId: made.id, comment: 'x' });
    await expectRejection(update, 'appointment_cancelled', 'Updating an appointment that was cancelled in the EHR');
    await mustBeCancelled(subject, made.id, 'State after a rejected update');
  },

  'attendance noted in the EHR is visible beside the state': async (subject) => {
    const attend = directChange(subject, 'attend');
    // Only staff can cancel a visit that has started.
    const cancel = directChange(subject, 'cancel');
    const shown = async ({ id }: Appointment) => {
      const { attendance = null, state } = await mustRead(subject, id);
      return [attendance, state];
    };
    const made = await book(subject);
    expectSame(await shown(made), [null, 'booked'], 'Attendance and state before the visit');
    try {
      for (const attendance of ['arrived', 'completed'] as const) {
        await attend(made, attendance);
        expectSame(await shown(made), [attendance, 'booked'], 'Attendance noted in the EHR, and state');
      }
      if (changes('cancel')(subject)) {
        const late = change(subject, { kind: 'cancel', appointmentId: made.id });
        await expectRejection(late, 'appointment_started', 'Cancelling a visit that is over');
      }
      if (moves(subject)) {
        const { start, end } = await freeSlot(subject);
        const late = change(subject, { kind: 'update', appointmentId: made.id, time: { start, end } });
        await expectRejection(late, 'appointment_started', 'Moving a visit that is over');
      }
    } finally {
      await cancel(made);
    }
    const missed = await book(subject);
    await attend(missed, 'no_show');
    expectSame(await shown(missed), ['no_show', 'cancelled'], 'Attendance of a patient who did not come, and state');
  },

  'a move keeps a comment written in the EHR': claimed([moves], async (subject) => {
    const comment = directChange(subject, 'comment');
    const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: from, comment: 'first' });
    await comment(made, 'written in the EHR');
    expectSame((await mustRead(subject, made.id)).comment, 'written in the EHR', 'Comment written in the EHR');
    const time = { start: to.start, end: to.end };
    const moved = await change(subject, { kind: 'update', appointmentId: made.id, time });
    const now = await mustRead(subject, moved.id);
    expectSame([now.start, now.comment], [to.start, 'written in the EHR'], 'Start and comment after the move');
  }),

  'a time booked in the EHR is unavailable': async (subject) => {
    const take = directChange(subject, 'take');
    const slot = await freeSlot(subject);
    const giveBack = await take(slot);
    try {
      expectThat(!(await isFree(subject, slot)), 'A time booked in the EHR is listed as free');
      await expectRejection(
        book(subject, { slot }),
        'time_slot_unavailable',
        'Booking a time that is booked in the EHR',
      );
    } finally {
      await giveBack();
    }
    expectThat(await isFree(subject, slot), 'A time freed in the EHR is not free');
  },

  'a cancellation does not free a time that the EHR has booked twice': claimed([changes('cancel')], async (subject) => {
    await expectStaysTaken(subject, (made) => change(subject, { kind: 'cancel', appointmentId: made.id }));
  }),

  'a move does not free a time that the EHR has booked twice': claimed([moves], async (subject) => {
    await expectStaysTaken(subject, async (made) => {
      const to = await freeSlot(subject);
      const time = { start: to.start, end: to.end };
      await change(subject, { kind: 'update', appointmentId: made.id, time });
    });
  }),

  'a cancellation in the EHR during a move is not undone': claimed([moves], async (subject) => {
    const cancel = directChange(subject, 'cancel');
    for (let round = 1; round <= 5; round++) {
      const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
      const made = await book(subject, { slot: from });
      const time = { start: to.start, end: to.end };
      const [, cancelled] = await Promise.allSettled([
        change(subject, { kind: 'update', appointmentId: made.id, time }),
        cancel(made),
      ]);
      // The EHR may reject the cancellation of its own staff. Then there is nothing to preserve.
      if (cancelled.status === 'rejected') continue;
      await mustBeCancelled(subject, made.id, 'State of an appointment that was cancelled in the EHR');
      for (const slot of [from, to]) {
        expectThat(await isFree(subject, slot), 'The time of an appointment cancelled in the EHR is not free');
      }
    }
  }),
});

/** The EHR's staff book another patient in the same time. Then the connector's own appointment leaves it. */
async function expectStaysTaken(subject: Subject, leave: (made: Appointment) => Promise<unknown>): Promise<void> {
  const overbook = directChange(subject, 'overbook');
  const slot = await freeSlot(subject);
  const made = await book(subject, { slot });
  const otherPatientId = given(subject.facts.otherPatientId, 'no other patient is known');
  const end = given(await overbook(made, otherPatientId), 'the EHR books a time once only');
  try {
    await leave(made);
    expectThat(!(await isFree(subject, slot)), 'The time of an appointment that is still booked is listed as free');
    await expectRejection(
      book(subject, { slot }),
      'time_slot_unavailable',
      'Booking a time that another appointment still has',
    );
  } finally {
    await end();
  }
}
