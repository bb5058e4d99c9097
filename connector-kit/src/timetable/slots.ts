import type { Period, Timetable } from '../schedules.ts';
import { overlaps } from '../time-slots.ts';
import { occurrencesOf } from './occurrences.ts';

/**
 * The slots of one schedule that lie wholly inside `window`, ordered by time. A schedule starts and ends at local times;
 * between them, slots follow each other in elapsed time, so that a clock change neither loses nor duplicates a slot.
 */
export function slotsOf(timetable: Timetable, timeZone: string, window: Period): Period[] {
  const slots: Period[] = [];
  const [from, to] = [window.start.getTime(), window.end.getTime()];
  const last = Math.floor(to / weekMilliseconds);
  for (let week = Math.floor(from / weekMilliseconds); week <= last; week++) {
    const ofWeek = slotsOfWeek(timetable, timeZone, week);
    for (let index = firstFrom(ofWeek, from); index < ofWeek.length; index++) {
      const slot = ofWeek[index] as Period;
      if (slot.start.getTime() >= to) break;
      if (slot.end.getTime() <= to && isOpen(slot, timetable)) slots.push(slot);
    }
  }
  return slots;
}

/** The index of the first slot that starts at `time` or later, by binary search. A week can have a thousand slots. */
function firstFrom(slots: readonly Period[], time: number): number {
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((slots[middle] as Period).start.getTime() < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
const weeks = new Map<string, readonly Period[]>();
const weeksKept = 1000;

function isOpen(slot: Period, { exceptions }: Timetable): boolean {
  return !exceptions.some((exception) => overlaps(exception, slot));
}

/**
 * The slots that start in a week, counted from 1970, by start, without regard to exceptions. Cached, because computing them
 * dominates the cost of a search.
 */
function slotsOfWeek(timetable: Timetable, timeZone: string, week: number): readonly Period[] {
  const { localStart, localEnd, slotMinutes, recurrence, endsAt } = timetable;
  const key = `${localStart} ${localEnd} ${slotMinutes} ${recurrence} ${endsAt?.getTime()} ${timeZone} ${week}`;
  const known = weeks.get(key);
  if (known) return known;
  const start = new Date(week * weekMilliseconds);
  const slots = slotsStartingIn(timetable, timeZone, { start, end: new Date(start.getTime() + weekMilliseconds) });
  if (weeks.size >= weeksKept) weeks.clear();
  weeks.set(key, slots);
  return slots;
}

function slotsStartingIn(timetable: Timetable, timeZone: string, window: Period): Period[] {
  const slotMilliseconds = timetable.slotMinutes * 60_000;
  const slots: Period[] = [];
  for (const occurrence of occurrencesOf(timetable, timeZone, window)) {
    const end = occurrence.end.getTime();
    for (let start = occurrence.start.getTime(); start + slotMilliseconds <= end; start += slotMilliseconds) {
      if (start >= window.start.getTime() && start < window.end.getTime()) {
        slots.push({ start: new Date(start), end: new Date(start + slotMilliseconds) });
      }
    }
  }
  // Occurrences that are longer than their interval overlap.
  return slots.sort((a, b) => a.start.getTime() - b.start.getTime());
}
