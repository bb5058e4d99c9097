import { overlaps } from '@crossward/connector-kit';
import type { TimeRange } from '../api/request-times.ts';

const mostSlots = 100;

interface StandingAppointment extends TimeRange {
  readonly id: string;
}

interface Placed {
  readonly id: string;
  readonly slot: TimeRange;
}

/** What becomes of the ids and of the slots: each stands here exactly once. */
export interface ReschedulePlan {
  /** By start. */
  readonly kept: readonly Placed[];
  /** By start of the slot. */
  readonly moved: readonly Placed[];
  /** By start. */
  readonly created: readonly TimeRange[];
  /** By current start, then id. */
  readonly cancelled: readonly string[];
}

/** `hole` is the time from where no gapless run of slots gets any further to where the next slot starts. */
export type RangeUnavailable =
  | ({ readonly reason: 'hole' } & TimeRange)
  | { readonly reason: 'too_many_slots'; readonly most: number };

interface RescheduleRequest {
  /** All alike: same patient, resource, healthcare service and care unit. */
  readonly appointments: readonly StandingAppointment[];
  /** Slots of the resource and service that are free or held by the appointments themselves. They may overlap. */
  readonly slots: readonly TimeRange[];
  readonly range: TimeRange;
}

/**
 * The continuous reschedule: fits appointments into the time slots of a range, one slot each.
 *
 * The slots must cover the range exactly, without a gap, and at most 100 of them. Who stands exactly on a slot of the
 * range keeps it; the others fill the free slots in time order, by their current start and then id. Slots that are left
 * over are created; appointments that are left over, the last in that order, are cancelled.
 *
 * Where slots overlap, as with two schedules, there may be several ways to cut the range. Then that one counts which
 * reuses the most appointments, then keeps the most, then has the fewest slots, then the shortest slots first.
 */
export function planReschedule(request: RescheduleRequest): ReschedulePlan | { unavailable: RangeUnavailable } {
  const appointments = request.appointments.toSorted(byStartThenId);
  const keepers = new Map<string, string>();
  // Two at the same time should not be. Should they, the first by id keeps the slot.
  for (const { id, start, end } of appointments) {
    const key = timeKey({ start, end });
    if (!keepers.has(key)) keepers.set(key, id);
  }
  const cut = cutRange(request.slots, request.range, appointments.length, (slot) => keepers.has(timeKey(slot)));
  if ('unavailable' in cut) return cut;

  const kept: Placed[] = [];
  const free: TimeRange[] = [];
  for (const slot of cut.slots) {
    const id = keepers.get(timeKey(slot));
    if (id === undefined) free.push(slot);
    else kept.push({ id, slot });
  }
  const staying = new Set(kept.map(({ id }) => id));
  const waiting = appointments.map(({ id }) => id).filter((id) => !staying.has(id));

  const moved: Placed[] = [];
  const created: TimeRange[] = [];
  for (const slot of free) {
    const id = waiting.shift();
    if (id === undefined) created.push(slot);
    else moved.push({ id, slot });
  }
  return { kept, moved, created, cancelled: waiting };
}

/** Those of `ids` whose current time overlaps the range. A cancellation that waits for a code still holds its time. */
export function holdsInRange(
  appointments: readonly StandingAppointment[],
  ids: readonly string[],
  range: TimeRange,
): string[] {
  const holding = new Set(appointments.filter((appointment) => overlaps(appointment, range)).map(({ id }) => id));
  return ids.filter((id) => holding.has(id));
}

/** Takes time proportional to the number of slots, at most a hundredfold, however they overlap. */
function cutRange(
  slots: readonly TimeRange[],
  range: TimeRange,
  appointmentCount: number,
  isKept: (slot: TimeRange) => boolean,
): { slots: TimeRange[] } | { unavailable: RangeUnavailable } {
  const start = range.start.getTime();
  const end = range.end.getTime();
  const usable = slots
    .filter((slot) => slot.start >= range.start && slot.start < slot.end && slot.end <= range.end)
    .toSorted((a, b) => a.start.getTime() - b.start.getTime() || a.end.getTime() - b.end.getTime());

  const fewestTo = fewestSlotsTo(usable, start);
  const fewest = fewestTo.get(end);
  if (fewest === undefined || start >= end) {
    const furthest = new Date([...fewestTo.keys()].reduce((a, b) => Math.max(a, b)));
    const next = usable.find((slot) => slot.start > furthest);
    return { unavailable: { reason: 'hole', start: furthest, end: next?.start ?? range.end } };
  }
  if (fewest > mostSlots) return { unavailable: { reason: 'too_many_slots', most: mostSlots } };

  const mostKept = mostKeptFrom(usable, end, fewestTo, isKept);
  let remaining = bestCount(mostKept.get(start) ?? new Map(), appointmentCount);
  const cut: TimeRange[] = [];
  let reached = start;
  for (const slot of usable) {
    if (slot.start.getTime() !== reached) continue;
    const after = mostKept.get(slot.end.getTime())?.get(remaining - 1);
    if (after === undefined || after + Number(isKept(slot)) !== mostKept.get(reached)?.get(remaining)) continue;
    cut.push(slot);
    reached = slot.end.getTime();
    remaining -= 1;
  }
  return { slots: cut };
}

/** Every time that a gapless run from `start` reaches, with the fewest slots it takes. `slots` are by start. */
function fewestSlotsTo(slots: readonly TimeRange[], start: number): Map<number, number> {
  const fewest = new Map([[start, 0]]);
  for (const slot of slots) {
    const before = fewest.get(slot.start.getTime());
    if (before === undefined) continue;
    const slotEnd = slot.end.getTime();
    fewest.set(slotEnd, Math.min(before + 1, fewest.get(slotEnd) ?? Infinity));
  }
  return fewest;
}

/** By time, then by number of slots: how many appointments a gapless run from there to `end` can keep at most. */
function mostKeptFrom(
  slots: readonly TimeRange[],
  end: number,
  fewestTo: ReadonlyMap<number, number>,
  isKept: (slot: TimeRange) => boolean,
): Map<number, Map<number, number>> {
  const from = new Map([[end, new Map([[0, 0]])]]);
  for (const slot of slots.toReversed()) {
    const slotStart = slot.start.getTime();
    const before = fewestTo.get(slotStart);
    const after = from.get(slot.end.getTime());
    if (before === undefined || after === undefined) continue;
    const here = from.get(slotStart) ?? new Map<number, number>();
    for (const [count, kept] of after) {
      if (before + 1 + count > mostSlots) continue;
      here.set(count + 1, Math.max(kept + Number(isKept(slot)), here.get(count + 1) ?? 0));
    }
    from.set(slotStart, here);
  }
  return from;
}

function bestCount(keptByCount: ReadonlyMap<number, number>, appointmentCount: number): number {
  const reused = (count: number) => Math.min(count, appointmentCount);
  const [best] = [...keptByCount].toSorted(([a, keptA], [b, keptB]) => reused(b) - reused(a) || keptB - keptA || a - b);
  return best?.[0] ?? 0;
}

function timeKey({ start, end }: TimeRange): string {
  return `${start.getTime()}/${end.getTime()}`;
}

function byStartThenId(a: StandingAppointment, b: StandingAppointment): number {
  return a.start.getTime() - b.start.getTime() || (a.id < b.id ? -1 : Number(a.id > b.id));
}
