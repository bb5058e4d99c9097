import type { HealthcareService, Resource } from '@crossward/connector-kit';
import type { Db } from '../db/kysely.ts';
import { Problem, unavailable } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { formatInstant, startOfDay } from '../time/date-times.ts';
import type { AnsweredDays, Asker, UnitWanted } from './ask.ts';
import { dayAfter, dayLength, daysBetween } from './days.ts';
import { compare, type KeptDay, type KeptDays, type KeptSlot, readKeptDays } from './kept.ts';

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
}

/** Sort keys of an entry: start in milliseconds since 1970, EHR, care unit, resource, service. */
export type SlotPosition = readonly [number, string, string, string, string];

export interface TimeslotSearch {
  readonly units: readonly UnitSearch[];
  /** 0: every EHR is asked. */
  readonly maxAgeSeconds: number;
  /** Milliseconds that the search waits for EHRs. */
  readonly waitMs: number;
  /** Slots of each care unit at most, the first ones of the range. */
  readonly perCareUnit: number | undefined;
  readonly after: SlotPosition | undefined;
  readonly limit: number;
  /** Called before the first call to an EHR. Returns why it is not to be asked. */
  mayAsk(emr: string): Promise<Problem | undefined>;
}

export interface FoundSlot {
  readonly unit: UnitSearch;
  readonly slot: KeptSlot;
  /** Milliseconds since 1970, by the database's clock. */
  readonly askedAt: number;
  /** `undefined`: the EHR did not name it in time. */
  readonly resource: Resource | undefined;
}

/** A care unit of which slots may be missing. */
export interface Unanswered {
  readonly unit: UnitSearch;
  readonly reason: Reason;
  readonly detail: string;
  /** For the log only. */
  readonly cause: unknown;
  /** `null`: it will not answer. */
  readonly retryAfterSeconds: number | null;
}

export interface FoundSlots {
  /** In the order of `SlotPosition`, one more than `limit` if there are more. */
  readonly found: readonly FoundSlot[];
  readonly unanswered: readonly Unanswered[];
}

/** Days that are looked at, until there are enough slots. A search of many care units finds them on the first ones. */
const reaches = [2, 7, 28, Number.POSITIVE_INFINITY] as const;
/** Days for which an EHR is asked at least. */
const daysAtOnce = 7;

/** How far the search of one care unit has come. */
interface Progress {
  readonly unit: UnitSearch;
  /** The local days of the search. */
  readonly days: readonly string[];
  /** How many of them are known. */
  known: number;
  readonly found: Omit<FoundSlot, 'resource'>[];
  resources: ReadonlyMap<string, Resource>;
  failure: Problem | undefined;
}

/**
 * Finds the first free time slots of many care units, from what is kept and from the EHRs. One that fails or is slow neither
 * delays nor hides the others.
 */
export async function findFreeSlots(db: Db, asker: Asker, search: TimeslotSearch): Promise<FoundSlots> {
  const late = lateAfter(search.waitMs);
  try {
    const all = await Promise.all(search.units.map((unit) => begin(asker, unit, search, late.promise)));
    for (const reach of reaches) {
      await goOn(db, asker, search, all, reach, late.promise);
      const found = merge(all, search);
      const isDone = all.every(({ known, days, failure }) => failure || known === days.length);
      if (!isDone && found.length <= search.limit) continue;
      return { found: await withResources(asker, found, search.waitMs), unanswered: all.flatMap(unanswered) };
    }
    throw new Error('The last reach has every day');
  } finally {
    late.stop();
  }
}

async function begin(
  asker: Asker,
  unit: UnitSearch,
  { after, perCareUnit }: TimeslotSearch,
  late: Promise<'late'>,
): Promise<Progress> {
  const { findServiceIds, careUnit, start, end } = unit;
  let { serviceIds, failure } = unit;
  try {
    failure ??= pausedProblem(unit);
    if (findServiceIds && !failure) serviceIds = findServiceIds(await inTime(asker.servicesOf(unit), late));
  } catch (error) {
    failure = asFailure(error);
  }
  const { timeZone } = careUnit;
  // The first slots of a care unit are counted from the start of the range.
  const from = Math.max(start.getTime(), Date.now(), perCareUnit === undefined ? (after?.[0] ?? 0) : 0);
  const dayOf = (instant: number) => formatInstant(new Date(instant), timeZone).slice(0, dayLength);
  const isEmpty = from >= end.getTime() || serviceIds?.length === 0;
  const days = isEmpty ? [] : daysBetween(dayOf(from), dayAfter(dayOf(end.getTime() - 1)));
  return { unit: { ...unit, serviceIds }, days, known: 0, found: [], resources: new Map(), failure };
}

/** What is kept of an EHR that operators have paused is not shown: nobody can book there. */
function pausedProblem({ ehr }: UnitSearch): Problem | undefined {
  const { pause } = ehr.health();
  if (!pause) return undefined;
  const retryAfterSeconds = pause.until ? Math.max(1, (pause.until.getTime() - Date.now()) / 1000) : undefined;
  return unavailable('ehr_paused', { retryAfterSeconds });
}

/** @throws Problem `ehr_timeout` if the search does not wait any longer */
async function inTime<Result>(work: Promise<Result>, late: Promise<'late'>): Promise<Result> {
  const result = await Promise.race([work, late]);
  if (result === 'late') throw new Problem('ehr_timeout', { detail: 'The EHR has not answered yet.' });
  return result as Result;
}

/** A mistake in one connector does not fail the search of the others. */
function asFailure(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal_error', { cause: error });
}

/** Gets to know the first `reach` days of each care unit. */
async function goOn(
  db: Db,
  asker: Asker,
  search: TimeslotSearch,
  all: readonly Progress[],
  reach: number,
  late: Promise<'late'>,
): Promise<void> {
  const open = all.filter(({ known, days, failure }) => !failure && known < Math.min(reach, days.length));
  if (open.length === 0) return;
  const wanted = open.map(({ unit: { ehr, careUnit, serviceIds }, days, known }) => ({
    emr: ehr.id,
    careUnitId: careUnit.id,
    serviceIds,
    firstDay: days[known] as string,
    endDay: endOf(days, reach),
  }));
  const kept = await readKeptDays(db, wanted, search.maxAgeSeconds);
  const steps = open.map((progress, index) =>
    reachDays(asker, search, progress, reach, kept[index] as KeptDays, late).catch((error: unknown) => {
      progress.failure = asFailure(error);
    }),
  );
  await Promise.all(steps);
}

/** The day after the first `count` days. */
function endOf(days: readonly string[], count: number): string {
  return days[count] ?? dayAfter(days.at(-1) as string);
}

/** @throws Problem that the care unit did not answer with */
async function reachDays(
  asker: Asker,
  search: TimeslotSearch,
  progress: Progress,
  reach: number,
  kept: KeptDays,
  late: Promise<'late'>,
): Promise<void> {
  const { unit, days } = progress;
  if (unit.needsResources) progress.resources = await inTime(asker.resourcesOf(unit), late);
  const askFor = () => ({
    firstDay: days[progress.known] as string,
    endDay: endOf(days, Math.max(reach, progress.known + daysAtOnce)),
    now: kept.now,
    since: Math.max(kept.changedAt, kept.now - search.maxAgeSeconds * 1000),
  });
  const target = Math.min(reach, days.length);
  const first = askFor();
  const oldest = take(progress, kept.days, target);
  if (kept.now - oldest > (search.maxAgeSeconds * 1000) / 2) asker.used(unit, { ...first, since: kept.changedAt });
  if (progress.known === target) return;
  if (unit.ehr.capabilities.slotsByPatient === 'required')
    throw new Problem('operation_unsupported', { detail: byPatient });
  const refusal = await search.mayAsk(unit.ehr.id);
  if (refusal) throw refusal;
  while (progress.known < target) {
    const before = progress.known;
    take(progress, await inTime(asker.ask(unit, askFor()), late), days.length);
    if (progress.known === before) throw new Error('An answer has the first day that was asked for');
  }
}

const byPatient = 'This EHR finds time slots for one patient only. List those of the care unit, with `patient_id`.';

/** Takes the slots of the next days, as far as they are known. Returns when the oldest answer was asked for. */
function take(progress: Progress, known: AnsweredDays, target: number): number {
  const { unit, days, found } = progress;
  let oldest = Number.POSITIVE_INFINITY;
  for (let day = nextDay(); day; day = nextDay()) {
    for (const slot of day.slots) found.push({ unit, slot, askedAt: day.askedAt });
    oldest = Math.min(oldest, day.askedAt);
    progress.known++;
  }
  return oldest;

  function nextDay(): KeptDay | undefined {
    return progress.known < target ? known.get(days[progress.known] as string) : undefined;
  }
}

/** The slots that are wanted, in order, as far as every care unit that answers is known. */
function merge(all: readonly Progress[], { perCareUnit, after, limit }: TimeslotSearch) {
  const horizon = Math.min(...all.map(horizonOf));
  const now = Date.now();
  const wanted = all.flatMap(({ unit, found, resources }) => {
    const { start, end, accepts } = unit;
    const its = found.filter(({ slot }) => {
      const [from, until] = slot;
      return (
        from >= start.getTime() && from > now && until <= end.getTime() && from < horizon && accepts(slot, resources)
      );
    });
    return perCareUnit === undefined ? its : its.slice(0, perCareUnit);
  });
  const rest = after ? wanted.filter((it) => inOrder(positionOf(it), after) > 0) : wanted;
  return rest
    .sort((one, other) => one.slot[0] - other.slot[0] || inOrder(positionOf(one), positionOf(other)))
    .slice(0, limit + 1);
}

/** Until when the slots of a care unit are known. */
function horizonOf({ unit, days, known, failure }: Progress): number {
  if (failure || known === days.length) return Number.POSITIVE_INFINITY;
  const { timeZone } = unit.careUnit;
  return (startOfDay(days[known] as string, timeZone) as Date).getTime();
}

export function positionOf({ unit, slot }: Pick<FoundSlot, 'unit' | 'slot'>): SlotPosition {
  return [slot[0], unit.ehr.id, unit.careUnit.id, slot[2], slot[3]];
}

function inOrder(one: SlotPosition, other: SlotPosition): number {
  const [start, ...names] = one;
  return start - other[0] || names.map((name, index) => compare(name, other[index + 1] as string)).find(Boolean) || 0;
}

/** Milliseconds. Slots are shown without the names of their resources rather than late. */
const longestNaming = 250;

async function withResources(
  asker: Asker,
  found: readonly Omit<FoundSlot, 'resource'>[],
  waitMs: number,
): Promise<readonly FoundSlot[]> {
  const late = lateAfter(Math.min(waitMs, longestNaming));
  const withResource = async (it: Omit<FoundSlot, 'resource'>) => {
    const resources = await Promise.race([asker.resourcesOf(it.unit).catch(() => undefined), late.promise]);
    return { ...it, resource: resources === 'late' ? undefined : resources?.get(it.slot[2]) };
  };
  return Promise.all(found.map(withResource)).finally(late.stop);
}

function unanswered({ unit, failure }: Progress): Unanswered[] {
  if (!failure) return [];
  const { reason, detail, retryable, headers, cause } = failure;
  return [{ unit, reason, detail, cause, retryAfterSeconds: retryable ? Number(headers['retry-after'] ?? 1) : null }];
}

function lateAfter(milliseconds: number) {
  const { promise, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), milliseconds);
  return { promise, stop: () => clearTimeout(timer) };
}
