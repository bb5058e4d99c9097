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

/** What happens to the ids and slots. Each appears exactly once. */
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

/** `hole`: from the end of the longest run of consecutive slots to the start of the next slot. */
export type RangeUnavailable =
  | ({ readonly reason: 'hole' } & TimeRange)
  | { readonly reason: 'too_many_slots'; readonly most: number };

interface RescheduleRequest {
  /** All have the same patient, resource, healthcare service and care unit. */
  readonly appointments: readonly StandingAppointment[];
  /** Slots of the resource and service that are free or taken by these appointments. They may overlap. */
  readonly slots: readonly TimeRange[];
  readonly range: TimeRange;
}

/**
 * The continuous reschedule: fits appointments into the time slots of a range, one slot each.
 *
 * At most 100 consecutive slots must cover the range exactly. An appointment that is exactly on a slot keeps it. The
 * others, ordered by current start and then id, fill the remaining slots in time order. Slots that remain get new
 * appointments. Appointments that remain, the last in that order, are cancelled.
 *
 * If slots overlap, as with two schedules, the range can be divided in several ways. The way with the most reused
 * appointments is chosen; then the most kept ones, the fewest slots, and the shortest slots first.
 */
export function planReschedule(request: RescheduleRequest): ReschedulePlan | { unavailable: RangeUnavailable } {
  const appointments = request.appointments.toSorted(byStartThenId);
  const keepers = new Map<string, string>();
  // If two appointments have the same time, which is unexpected, the first by id keeps the slot.
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

/** The ids whose current time overlaps the range. A cancellation that awaits its code still takes its time. */
export function holdsInRange(
  appointments: readonly StandingAppointment[],
  ids: readonly string[],
  range: TimeRange,
): string[] {
  const holding = new Set(appointments.filter((appointment) => overlaps(appointment, range)).map(({ id }) => id));
  return ids.filter((id) => holding.has(id));
}

/** Divides the range into slots. The run time is linear in the number of slots, times 100 at most. */
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

/** Every time that consecutive slots from `start` reach, with the fewest slots needed. `slots` are sorted by start. */
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

/** By time, then by number of slots: the most appointments that consecutive slots from there to `end` can keep. */
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
