import type { AppointmentChanges, ChangedAppointment } from '../appointment-changes.ts';
import { capability, claimed, Failure } from './check.ts';
import { directChange, expectSame, expectThat, facts, operation } from './expect.ts';
import { book, change, changes, consecutiveSlots, moves, mustRead } from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof consecutiveSlots>>[number];

/** More than any server needs until it shows what it has stored. */
const mostCalls = 200;
/** 15 seconds: a database may show a change only when older transactions have ended. */
const mostLooks = 60;
const lookMilliseconds = 250;

function list(
  { connector, careUnit, otherCareUnit }: Subject,
  after?: string,
  limit = 50,
): Promise<AppointmentChanges> {
  const careUnits = otherCareUnit ? [careUnit, otherCareUnit] : [careUnit];
  return operation(
    connector,
    'listAppointmentChanges',
  )({ careUnits, limit, ...(after === undefined ? {} : { after }) });
}

/** Reads until there is nothing more. */
async function readAll(subject: Subject, after: string, limit?: number) {
  const changes: ChangedAppointment[] = [];
  let next = after;
  for (let call = 1; call <= mostCalls; call++) {
    const page = await list(subject, next, limit);
    changes.push(...page.changes);
    next = page.next;
    if (!page.hasMore) return { changes, next };
  }
  throw new Failure(`hasMore is still true after ${mostCalls} calls`);
}

/** Reads until every one of these ids is among the changes. An EHR may show a change a little later. */
async function readUntil(subject: Subject, after: string, ids: readonly string[], limit?: number) {
  const found = new Map<string, ChangedAppointment>();
  let next = after;
  for (let look = 1; look <= mostLooks; look++) {
    const read = await readAll(subject, next, limit);
    for (const it of read.changes) found.set(it.appointment.id, it);
    next = read.next;
    if (ids.every((id) => found.has(id))) return { found, next };
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
  throw new Failure(`Changed appointments are missing: ${ids.filter((id) => !found.has(id)).join(', ')}`);
}

export const appointmentChanges = capability(
  'appointment-changes',
  (connector) => connector.listAppointmentChanges !== undefined,
  {
    'returns an appointment that was booked, moved and cancelled, as it is': claimed(
      [moves, changes('cancel')],
      async (subject) => {
        const [from, to] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
        const start = await list(subject);
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
      const start = await list(subject);
      await cancel(made);
      const { found } = await readUntil(subject, start.next, [made.id]);
      expectSame(found.get(made.id)?.appointment.state, 'cancelled', 'State of an appointment cancelled in the EHR');
    },

    'returns attendance that is noted directly in the EHR': async (subject) => {
      const attend = directChange(subject, 'attend');
      // Only staff can cancel a visit that has started.
      const cancel = directChange(subject, 'cancel');
      const made = await book(subject);
      const start = await list(subject);
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
      const start = await list(subject);
      await remove(made);
      const { found } = await readUntil(subject, start.next, [made.id]);
      const expected = facts({ ...made, state: 'cancelled', heldUntil: null });
      const shown = [found.get(made.id)?.appointment].flatMap((it) => it ?? []).map(facts);
      expectSame(shown, [expected], 'A deleted appointment');
    },

    'misses none in small pages': async (subject) => {
      const slots = await consecutiveSlots(subject, 5);
      const start = await list(subject);
      const ids: string[] = [];
      for (const slot of slots) ids.push((await book(subject, { slot })).id);
      await readUntil(subject, start.next, ids, 2);
    },

    'continues after the last change, and again from an earlier position': async (subject) => {
      const start = await list(subject);
      const { id } = await book(subject);
      const { next } = await readUntil(subject, start.next, [id]);
      const later = await readAll(subject, next);
      const isRepeated = later.changes.some(({ appointment }) => appointment.id === id);
      expectThat(!isRepeated, 'A change is returned again although the position is after it');
      await readUntil(subject, start.next, [id]);
    },
  },
);
