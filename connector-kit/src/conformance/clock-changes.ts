import { Temporal } from 'temporal-polyfill';
import type { TimeSlot } from '../records.ts';
import { capability, claimed, NotChecked } from './check.ts';
import { expectSame, expectThat, given } from './expect.ts';
import { inEveryTimeZone, zoneCount } from './process-time-zone.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  freeSlots,
  listAllPages,
  moves,
  mustRead,
  needsBooking,
} from './steps.ts';
import type { ClockChange, Subject } from './subject.ts';

function fixtures({ clockChanges }: Subject): readonly ClockChange[] {
  return given(clockChanges?.length ? clockChanges : undefined, 'no clock change is given');
}

function slotsAround(subject: Subject, { resourceId, healthcareServiceId, start, end }: ClockChange) {
  return freeSlots(subject, {
    start,
    end,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
  });
}

/** The beginnings of the day of a moment and of the next one, in the care unit's time zone. */
function dayOf({ careUnit }: Subject, at: Date): { readonly start: Date; readonly end: Date } {
  const day = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(careUnit.timeZone).startOfDay();
  const [start, end] = [day, day.add({ days: 1 })].map((it) => new Date(it.epochMilliseconds));
  return { start: start ?? at, end: end ?? at };
}

function isMidnight(subject: Subject, at: Date): boolean {
  return dayOf(subject, at).start.getTime() === at.getTime();
}

/** A slot that begins at midnight and one that ends there, or one of both. */
async function slotsAtMidnight(subject: Subject): Promise<readonly TimeSlot[]> {
  const lists = (subject.clockChanges ?? []).map((it) => () => slotsAround(subject, it));
  for (const list of [...lists, () => freeSlots(subject)]) {
    const slots = await list();
    const found = [
      slots.find(({ start }) => isMidnight(subject, start)),
      slots.find(({ end }) => isMidnight(subject, end)),
    ].filter((it) => it !== undefined);
    if (found.length > 0) return found;
  }
  throw new NotChecked('no free slot begins or ends at midnight');
}

/** Expects a booking at the time of the slot, read by id and in a list. */
async function expectBookable(subject: Subject, slot: TimeSlot, where: string): Promise<void> {
  const { id } = await book(subject, { slot });
  const now = await mustRead(subject, id);
  expectSame([now.start, now.end], [slot.start, slot.end], `Time of an appointment booked ${where}`);
  const there = await appointmentsAt(subject, slot);
  expectSame(
    there.map((it) => [it.id, it.start, it.end]),
    [[id, slot.start, slot.end]],
    `Appointments listed for the time booked ${where}`,
  );
}

export const clockChanges = capability('clock-changes', (connector) => connector.listTimeSlots !== undefined, {
  'lists every slot around a clock change once, at the right instant': async (subject) => {
    for (const fixture of fixtures(subject)) {
      await inEveryTimeZone(subject, async (there, zone) => {
        const slots = await slotsAround(there, fixture);
        expectSame(
          slots.map((slot) => slot.start),
          fixture.slotStarts,
          `Starts of the slots around the clock change in ${fixture.name}, listed by a process in ${zone}`,
        );
      });
    }
  },

  'books slots before and after a clock change at the right instant': async (subject) => {
    needsBooking(subject);
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      const before = slots.findLast(({ start }) => start < fixture.at);
      const after = slots.filter(({ start }) => start >= fixture.at).slice(0, 2);
      const tried = [before, ...after].filter((slot) => slot !== undefined);
      expectThat(tried.length > 1, `No slots before and after the clock change in ${fixture.name}`);
      await inEveryTimeZone(subject, async (there, zone, index) => {
        const slot = tried[index];
        if (slot) await expectBookable(there, slot, `in ${fixture.name} by a process in ${zone}`);
      });
    }
  },

  'moves an appointment across a clock change': claimed([moves], async (subject) => {
    needsBooking(subject);
    const all = fixtures(subject);
    await inEveryTimeZone(subject, async (there, zone, index) => {
      for (const fixture of all.filter((_, at) => at % zoneCount === index)) {
        const slots = await slotsAround(there, fixture);
        const before = given(
          slots.findLast(({ start }) => start < fixture.at),
          'there is no slot before the clock change',
        );
        const after = given(
          slots.find(({ start }) => start >= fixture.at),
          'there is no slot after the clock change',
        );
        const { id } = await book(there, { slot: before });
        const time = { start: after.start, end: after.end };
        const moved = await change(there, { kind: 'update', appointmentId: id, time });
        const now = await mustRead(there, moved.id);
        const what = `Time after a move in ${fixture.name} by a process in ${zone}`;
        expectSame([now.start, now.end], [after.start, after.end], what);
      }
    });
  }),

  'books slots that begin or end at midnight, and lists them by day': async (subject) => {
    needsBooking(subject);
    const slots = await slotsAtMidnight(subject);
    await inEveryTimeZone(subject, async (there, zone, index) => {
      const slot = slots[index % slots.length];
      if (!slot) return;
      const { id } = await book(there, { slot });
      const midnight = isMidnight(there, slot.start) ? slot.start : slot.end;
      const days = [dayOf(there, new Date(midnight.getTime() - 1)), dayOf(there, midnight)];
      const listed: boolean[] = [];
      for (const range of days) {
        const found = await listAllPages(there, { resourceId: slot.resourceId, range });
        listed.push(found.some((it) => it.id === id));
      }
      const now = await mustRead(there, id);
      expectSame([now.start, now.end], [slot.start, slot.end], `Time of an appointment at midnight, booked in ${zone}`);
      const expected = [slot.start < midnight, slot.end > midnight];
      expectSame(
        listed,
        expected,
        `An appointment at midnight is listed for the day before and the day after in ${zone}`,
      );
      if (changes('cancel')(there)) await change(there, { kind: 'cancel', appointmentId: id });
    });
  },
});
