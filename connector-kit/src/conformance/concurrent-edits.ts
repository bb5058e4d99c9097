import { capability } from './check.ts';
import { expectRefusal, expectSame, expectThat, given } from './expect.ts';
import { book, change, freeRun, freeSlot, isFree, mustRead, needs } from './scene.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;
type Way = keyof NonNullable<Subject['behindItsBack']>;

/** @throws NotChecked when nothing can be changed in the EHR in this way */
function behind<Name extends Way>({ behindItsBack }: Subject, name: Name) {
  return given(behindItsBack?.[name], `the subject has no way to ${name} in the EHR itself`) as NonNullable<
    NonNullable<Subject['behindItsBack']>[Name]
  >;
}

export const concurrentEdits = capability('concurrent-edits', (connector) => connector.findAppointments !== undefined, {
  'a cancellation in the EHR is seen and stays': async (subject) => {
    const cancel = behind(subject, 'cancel');
    const made = await book(subject);
    await cancel(made);
    expectSame((await mustRead(subject, made.id)).state, 'cancelled', 'State of what the EHR itself has cancelled');
    if (!subject.connector.capabilities.changes.includes('update')) return;
    const update = change(subject, { kind: 'update', appointmentId: made.id, comment: 'x' });
    await expectRefusal(update, 'appointment_cancelled', 'Changing what the EHR itself has cancelled');
    expectSame((await mustRead(subject, made.id)).state, 'cancelled', 'State after a change that was refused');
  },

  'a comment written in the EHR outlives a move': async (subject) => {
    needs(subject, 'update');
    const comment = behind(subject, 'comment');
    const [from, to] = (await freeRun(subject, 2)) as [Slot, Slot];
    const made = await book(subject, { slot: from, comment: 'first' });
    await comment(made, 'written in the EHR');
    expectSame((await mustRead(subject, made.id)).comment, 'written in the EHR', 'Comment as the EHR has it');
    const time = { start: to.start, end: to.end };
    const moved = await change(subject, { kind: 'update', appointmentId: made.id, time });
    const now = await mustRead(subject, moved.id);
    expectSame([now.start, now.comment], [to.start, 'written in the EHR'], 'Start and comment after the move');
  },

  'a time taken in the EHR is taken': async (subject) => {
    const take = behind(subject, 'take');
    const slot = await freeSlot(subject);
    const giveBack = await take(slot);
    try {
      expectThat(!(await isFree(subject, slot)), 'A time that was taken in the EHR is shown as free');
      await expectRefusal(book(subject, { slot }), 'time_slot_unavailable', 'Booking a time that was taken in the EHR');
    } finally {
      await giveBack();
    }
    expectThat(await isFree(subject, slot), 'A time that was given back in the EHR is not free');
  },

  'a cancellation in the EHR in the middle of changes is not undone': async (subject) => {
    needs(subject, 'update');
    const cancel = behind(subject, 'cancel');
    for (let round = 1; round <= 5; round++) {
      const [from, to] = (await freeRun(subject, 2)) as [Slot, Slot];
      const made = await book(subject, { slot: from });
      const time = { start: to.start, end: to.end };
      const [, cancelled] = await Promise.allSettled([
        change(subject, { kind: 'update', appointmentId: made.id, time }),
        cancel(made),
      ]);
      // The EHR may refuse its own staff who come too late, and then nothing of theirs is lost.
      if (cancelled.status === 'rejected') continue;
      expectSame((await mustRead(subject, made.id)).state, 'cancelled', 'State of what the EHR itself has cancelled');
      for (const slot of [from, to]) {
        expectThat(await isFree(subject, slot), 'A time is still taken for an appointment that the EHR has cancelled');
      }
    }
  },
});
