import type { ChangedAppointment } from '../appointment-changes.ts';
import type { Appointment } from '../records.ts';
import { clockMovesOn, expectToldOnce, listChanges, readAll, readUntil } from './change-steps.ts';
import { capability, claimed } from './check.ts';
import { directChange, expectSame, expectThat, facts, given } from './expect.ts';
import { book, change, changes, consecutiveSlots, moves, mustRead } from './steps.ts';
import type { Subject } from './subject.ts';
import { unwatched, watchingCall } from './watched-calls.ts';

type Slot = Awaited<ReturnType<typeof consecutiveSlots>>[number];

const noTimes = 'the EHR cannot be brought to write with such a time stamp';
/** Enough for several calls and pages. */
const mostEdits = 6;

/** Books at each of these times, and reads all changes so far. */
async function bookedAndRead(subject: Subject, slots: readonly Slot[]) {
  const start = await listChanges(subject);
  const made: Appointment[] = [];
  for (const slot of slots) made.push(await book(subject, { slot, comment: 'booked' }));
  const ids = made.map(({ id }) => id);
  const { next } = await readUntil(subject, start.next, ids);
  return { made, ids, next };
}

export const appointmentChanges = capability(
  'appointment-changes',
  (connector) => connector.listAppointmentChanges !== undefined,
  {
    'returns an appointment that was booked, moved and cancelled, as it is': claimed(
      [moves, changes('cancel')],
      async (subject) => {
        const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
        const start = await listChanges(subject);
        const { id } = await book(subject, { slot: from });
        const booked = await readUntil(subject, start.next, [id]);
        const time = { start: to.start, end: to.end };
        // A move can give a new id.
        const { id: now } = await change(subject, { kind: 'update', appointmentId: id, time });
        const moved = await readUntil(subject, booked.next, [id, now]);
        expectSame(moved.found.get(now)?.appointment.start, to.start, 'Start of an appointment that was moved');
        await change(subject, { kind: 'cancel', appointmentId: now });
        const { found } = await readUntil(subject, moved.next, [now]);
        const shown = [found.get(now)?.appointment].flatMap((it) => it ?? []).map(facts);
        expectSame(shown, [facts(await mustRead(subject, now))], 'A changed appointment');
      },
    ),

    'returns a change that is made directly in the EHR': async (subject) => {
      const cancel = directChange(subject, 'cancel');
      const made = await book(subject);
      const start = await listChanges(subject);
      await cancel(made);
      const { found } = await readUntil(subject, start.next, [made.id]);
      expectSame(found.get(made.id)?.appointment.state, 'cancelled', 'State of an appointment cancelled in the EHR');
    },

    'returns attendance that is noted directly in the EHR': async (subject) => {
      const attend = directChange(subject, 'attend');
      // Only staff can cancel a visit that has started.
      const cancel = directChange(subject, 'cancel');
      const made = await book(subject);
      const start = await listChanges(subject);
      await attend(made, 'arrived');
      try {
        const { found } = await readUntil(subject, start.next, [made.id]);
        expectSame(found.get(made.id)?.appointment.attendance, 'arrived', 'Attendance of a patient who has arrived');
      } finally {
        await cancel(made);
      }
    },

    'returns an appointment that is deleted in the EHR, as cancelled': async (subject) => {
      const remove = directChange(subject, 'delete');
      const made = await book(subject);
      const start = await listChanges(subject);
      await remove(made);
      const { found } = await readUntil(subject, start.next, [made.id]);
      const expected = facts({ ...made, state: 'cancelled', heldUntil: null });
      const shown = [found.get(made.id)?.appointment].flatMap((it) => it ?? []).map(facts);
      expectSame(shown, [expected], 'A deleted appointment');
    },

    'misses none in small pages': async (subject) => {
      const slots = await consecutiveSlots(subject, 5);
      const start = await listChanges(subject);
      const ids: string[] = [];
      for (const slot of slots) ids.push((await book(subject, { slot })).id);
      await readUntil(subject, start.next, ids, 2);
      const { hasMore } = await listChanges(subject, start.next, 2);
      expectThat(hasMore, 'hasMore is false after two of five changes');
    },

    'tells changes of one and the same time once each, in small pages': async (subject) => {
      const commentAtOnce = given(subject.timedChanges?.commentAtOnce, noTimes);
      const { made, ids, next } = await bookedAndRead(subject, await consecutiveSlots(subject, 3));
      await commentAtOnce(made, 'at once');
      await expectToldOnce(subject, next, new Map(ids.map((id) => [id, 'at once'])), { limit: 1 });
    },

    'tells a change that appears later than its time stamp, and no other again': async (subject) => {
      const commentAtOnce = given(subject.timedChanges?.commentAtOnce, noTimes);
      const commentLate = given(subject.timedChanges?.commentLate, noTimes);
      const { made, next } = await bookedAndRead(subject, await consecutiveSlots(subject, 2));
      const [slow, quick] = made as [Appointment, Appointment];
      const appear = await commentLate(slow, 'late');
      // An EHR may hold back what others change meanwhile.
      const [early] = await Promise.allSettled([commentAtOnce([quick], 'in time').then(() => readAll(subject, next))]);
      await appear();
      if (early.status === 'rejected') throw early.reason;
      const { changes: before, next: position } = early.value;
      const comments = new Map([
        [slow.id, 'late'],
        [quick.id, 'in time'],
      ]);
      await expectToldOnce(subject, position, comments, { before });
    },

    'misses none while staff change others between two pages': async (subject) => {
      const comment = directChange(subject, 'comment');
      const { made: booked, next: first } = await bookedAndRead(subject, await consecutiveSlots(subject, 4));
      const [clock, ...made] = booked as [Appointment, ...Appointment[]];
      const comments = new Map(made.map(({ id }) => [id, 'before']));
      for (const it of made) await comment(it, 'before');
      // With the same time stamp, what staff change again would keep its place.
      const told = await readUntil(subject, first, [...comments.keys()]);
      const than = new Date(Math.max(...[...told.found.values()].map(({ changedAt }) => changedAt.getTime())));
      await clockMovesOn(subject, told.next, { than, edit: (look) => comment(clock, `look ${look}`) });
      let edits = 0;
      // The oldest change first: those after it move up, and it moves to the end.
      const edit = async () => {
        const it = made[edits % made.length];
        if (!it || edits >= mostEdits) return;
        const text = `edit ${++edits}`;
        await unwatched(() => comment(it, text));
        comments.set(it.id, text);
      };
      const before: ChangedAppointment[] = [];
      let next = first;
      for (let calls = 0, hasMore = true; hasMore && calls <= mostEdits; calls++) {
        let requests = 0;
        const { outcome } = await watchingCall(
          () => listChanges(subject, next, 1),
          (_, __, send) => (++requests === 2 ? edit().then(send) : undefined),
        );
        if (outcome.status === 'rejected') throw outcome.reason;
        before.push(...outcome.value.changes);
        ({ next, hasMore } = outcome.value);
        await edit();
      }
      await expectToldOnce(subject, next, comments, { before, limit: 1 });
    },

    'continues after the last change, and again from an earlier position': async (subject) => {
      const start = await listChanges(subject);
      const { id } = await book(subject);
      const { next } = await readUntil(subject, start.next, [id]);
      const later = await readAll(subject, next);
      const isRepeated = later.changes.some(({ appointment }) => appointment.id === id);
      expectThat(!isRepeated, 'A change is returned again although the position is after it');
      await readUntil(subject, start.next, [id]);
    },
  },
);
