import type { HealthcareService, Resource } from '@crossward/connector-kit';
import { Problem, unavailable } from '../problems/problem.ts';
import { localDay } from '../time/date-times.ts';
import type { Answer, UnitWanted } from './ask.ts';
import { dayAfter, daysBetween, startOf } from './days.ts';
import { compare, type KeptDay, type KeptSlot } from './kept.ts';

/** Where a search looks, and when. */
export interface UnitSearch extends UnitWanted {
  readonly start: Date;
  /** At most 92 days later. */
  readonly end: Date;
  /** Whether a slot is wanted. */
  accepts(slot: KeptSlot, resources: ReadonlyMap<string, Resource>): boolean;
  /** `accepts` needs the resources. */
  readonly needsResources: boolean;
  /** Instead of `serviceIds`: the ids of the services that are wanted, of those that the care unit has. None: no slots. */
  findServiceIds?: ((services: readonly HealthcareService[]) => readonly string[]) | undefined;
  /** Why it is known beforehand that the EHR does not answer. */
  readonly failure?: Problem | undefined;
  /** How many slots may be shown at most. Absent: all. */
  readonly most?: number | undefined;
}

/** Sort keys of an entry: start in milliseconds since 1970, EHR, care unit, resource, service. */
export type SlotPosition = readonly [number, string, string, string, string];

/** What limits the slots that are shown. */
export interface PageBounds {
  readonly after: SlotPosition | undefined;
  readonly limit: number;
}

/** A slot that is wanted, of a resource whose name is not known yet. */
export interface Wanted {
  readonly unit: UnitSearch;
  readonly slot: KeptSlot;
  readonly day: KeptDay;
}

/** How far the search of one care unit has come. */
export interface Progress {
  unit: UnitSearch;
  /** The local days of the search. */
  days: readonly string[];
  /** How many of them are known. */
  known: number;
  /** Nothing is unknown before it. Milliseconds since 1970. */
  knownUntil: number;
  /** The first slots of the known days that are wanted, in order. */
  readonly wanted: Wanted[];
  /** How many of those are of known days: more are of the next one, which is known in part. */
  whole: number;
  resources: ReadonlyMap<string, Resource>;
  /** What it has answered had changed when it was to be shown. */
  isAskedAgain: boolean;
  failure: Problem | undefined;
}

export function begin(unit: UnitSearch, { after }: PageBounds): Progress {
  const { careUnit, start, end, failure = pausedProblem(unit) } = unit;
  const { timeZone } = careUnit;
  const from = Math.max(start.getTime(), Date.now(), after?.[0] ?? 0);
  // Without the service, a care unit has no slots.
  const isEmpty = from >= end.getTime() || unit.serviceIds?.length === 0 || unit.most === 0;
  const lastDay = localDay(new Date(end.getTime() - 1), timeZone);
  const days = isEmpty ? [] : daysBetween(localDay(new Date(from), timeZone), dayAfter(lastDay));
  const nothing = { known: 0, knownUntil: from, wanted: [], whole: 0, resources: new Map() };
  return { unit, days, failure, isAskedAgain: false, ...nothing };
}

/** What is kept of an EHR that operators have paused is not shown: nobody can book there. */
function pausedProblem({ ehr }: UnitSearch): Problem | undefined {
  const { pause } = ehr.health();
  if (!pause) return undefined;
  const retryAfterSeconds = pause.until ? Math.max(1, (pause.until.getTime() - Date.now()) / 1000) : undefined;
  return unavailable('ehr_paused', { retryAfterSeconds });
}

/** Whether nothing more of a care unit is looked for. */
export function isKnown({ unit, days, known, failure, wanted }: Progress, { limit }: PageBounds): boolean {
  if (failure || known === days.length) return true;
  return wanted.length >= Math.min(unit.most ?? Number.POSITIVE_INFINITY, limit + 1);
}

/** Takes the slots of the next days, as far as they are known. Returns when the oldest answer was asked for. */
export function take(progress: Progress, { days: known, partial }: Answer, target: number, page: PageBounds): number {
  const { days, wanted } = progress;
  let oldest = Number.POSITIVE_INFINITY;
  wanted.length = progress.whole;
  for (let day = nextDay(); day; day = nextDay()) {
    addWanted(progress, day, page);
    oldest = Math.min(oldest, day.askedAt);
    progress.known++;
  }
  const next = days[progress.known];
  if (next === undefined) return oldest;
  progress.whole = wanted.length;
  progress.knownUntil = startOf(next, progress.unit.careUnit.timeZone);
  if (partial?.day !== next) return oldest;
  addWanted(progress, partial, page);
  progress.knownUntil = Math.max(progress.knownUntil, partial.slots.at(-1)?.[0] ?? 0);
  return oldest;

  function nextDay(): KeptDay | undefined {
    return progress.known < target ? known.get(days[progress.known] as string) : undefined;
  }
}

/** Forgets a day and all later ones. */
export function forgetFrom(progress: Progress, day: string): void {
  const first = progress.wanted.findIndex((it) => it.day.day >= day);
  if (first >= 0) progress.wanted.length = first;
  progress.whole = progress.wanted.length;
  progress.known = Math.max(0, Math.min(progress.known, progress.days.indexOf(day)));
  progress.knownUntil = startOf(day, progress.unit.careUnit.timeZone);
}

/** Shows nothing of these days, of which nobody knows any more what is free. */
export function leaveOut(progress: Progress, days: ReadonlySet<string>): void {
  const { wanted, whole } = progress;
  const isLeft = ({ day }: Wanted) => !days.has(day.day);
  progress.whole = wanted.slice(0, whole).filter(isLeft).length;
  wanted.splice(0, wanted.length, ...wanted.filter(isLeft));
  progress.failure ??= new Problem('time_slots_changing');
}

function addWanted({ unit, wanted, resources }: Progress, day: KeptDay, { after, limit }: PageBounds): void {
  const [start, end] = [Math.max(unit.start.getTime(), Date.now() + 1), unit.end.getTime()];
  const most = Math.min(unit.most ?? Number.POSITIVE_INFINITY, limit + 1);
  for (const slot of day.slots) {
    if (wanted.length >= most) return;
    if (slot[0] < start || slot[1] > end || !unit.accepts(slot, resources)) continue;
    if (!after || isAfter(positionOf({ unit, slot }), after)) wanted.push({ unit, slot, day });
  }
}

/** The first slots of two lists in order. At most one more than `limit`. */
export function merge(some: readonly Wanted[], others: readonly Wanted[], { limit }: PageBounds): readonly Wanted[] {
  const last = some.length > limit ? some.at(-1) : undefined;
  const fitting = last ? others.filter((it) => inOrder(it, last) < 0) : others;
  return fitting.length === 0 ? some : [...some, ...fitting].sort(inOrder).slice(0, limit + 1);
}

export function positionOf({ unit, slot }: Pick<Wanted, 'unit' | 'slot'>): SlotPosition {
  return [slot[0], unit.ehr.id, unit.careUnit.id, slot[2], slot[3]];
}

function inOrder(one: Wanted, other: Wanted): number {
  return (
    one.slot[0] - other.slot[0] ||
    compare(one.unit.ehr.id, other.unit.ehr.id) ||
    compare(one.unit.careUnit.id, other.unit.careUnit.id) ||
    compare(one.slot[2], other.slot[2]) ||
    compare(one.slot[3], other.slot[3])
  );
}

function isAfter(one: SlotPosition, other: SlotPosition): boolean {
  const index = one.findIndex((key, place) => key !== other[place]);
  return index >= 0 && (one[index] as string | number) > (other[index] as string | number);
}
