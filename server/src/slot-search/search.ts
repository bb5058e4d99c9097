import { setImmediate } from 'node:timers/promises';
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

/** Days that are looked at, one after the other, until there are enough slots. Many care units have them on the first ones. */
const reaches = [1, 3, 7, 28, Number.POSITIVE_INFINITY] as const;
/** Days for which an EHR is asked at least. */
const daysAtOnce = 7;
/** Part of the wait after which the other care units go on without a slow one. */
const slowPart = 1 / 4;

/** How far the search of one care unit has come. */
interface Progress {
  unit: UnitSearch;
  /** The local days of the search. */
  days: readonly string[];
  /** How many of them are known. */
  known: number;
  /** Those days, with their slots. */
  readonly found: KeptDay[];
  resources: ReadonlyMap<string, Resource>;
  failure: Problem | undefined;
}

/**
 * Finds the first free time slots of many care units, from what is kept and from the EHRs. One that fails or is slow neither
 * delays nor hides the others.
 */
export async function findFreeSlots(db: Db, asker: Asker, search: TimeslotSearch): Promise<FoundSlots> {
  const all = search.units.map((unit) => begin(unit, search));
  const running = new Map<Progress, Step>();
  const late = after(search.waitMs);
  const timers = [late];
  try {
    for (;;) {
      const found = merge(all, search);
      const isLate = late.isOver();
      for (const progress of isLate ? running.keys() : [])
        if (wantsMore(progress, search, found)) progress.failure = notYet();
      const open = all.filter((progress) => wantsMore(progress, search, found));
      if (open.length === 0) {
        const missing = all.flatMap(unanswered);
        return { found: await withResources(asker, found, search.waitMs), unanswered: missing };
      }
      const wanting = open.filter((progress) => !running.has(progress));
      if (wanting.length > 0) {
        const slow = after(search.waitMs * slowPart);
        timers.push(slow);
        await goOn(db, asker, search, wanting, { running, slow: slow.promise, isLate });
      }
      const steps = open.flatMap((progress) => running.get(progress) ?? []);
      const next =
        wanting.length > 0
          ? Promise.all(steps.map(({ endedOrSlow }) => endedOrSlow))
          : Promise.race(steps.map(({ ended }) => ended));
      await Promise.race([late.promise, next]);
      // What ends at the same time is looked at together.
      await setImmediate();
    }
  } finally {
    for (const timer of timers) timer.stop();
  }
}

/** What is kept of an EHR that operators have paused is not shown: nobody can book there. */
function pausedProblem({ ehr }: UnitSearch): Problem | undefined {
  const { pause } = ehr.health();
  if (!pause) return undefined;
  const retryAfterSeconds = pause.until ? Math.max(1, (pause.until.getTime() - Date.now()) / 1000) : undefined;
  return unavailable('ehr_paused', { retryAfterSeconds });
}

const notYet = () => new Problem('ehr_timeout', { detail: 'The EHR has not answered yet.' });

/** A mistake in one connector does not fail the search of the others. */
function asFailure(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal_error', { cause: error });
}

/** What a care unit is asked for. */
interface Step {
  readonly ended: Promise<void>;
  readonly endedOrSlow: Promise<void>;
}

interface Run {
  readonly running: Map<Progress, Step>;
  readonly slow: Promise<void>;
  /** Only what is kept is looked at. */
  readonly isLate: boolean;
}

/** Whether slots that are not known yet can be among the first ones. */
function wantsMore(progress: Progress, search: TimeslotSearch, found: readonly Wanted[]): boolean {
  if (isKnown(progress, search)) return false;
  const { unit, days, known } = progress;
  const last = found.length > search.limit ? found.at(-1) : undefined;
  return !last || (startOfDay(days[known] as string, unit.careUnit.timeZone) as Date).getTime() <= last.slot[0];
}

function begin(unit: UnitSearch, { after, perCareUnit }: TimeslotSearch): Progress {
  const { careUnit, start, end, failure = pausedProblem(unit) } = unit;
  const { timeZone } = careUnit;
  // The first slots of a care unit are counted from the start of the range.
  const from = Math.max(start.getTime(), Date.now(), perCareUnit === undefined ? (after?.[0] ?? 0) : 0);
  const dayOf = (instant: number) => formatInstant(new Date(instant), timeZone).slice(0, dayLength);
  // Without the service, a care unit has no slots.
  const isEmpty = from >= end.getTime() || unit.serviceIds?.length === 0;
  const days = isEmpty ? [] : daysBetween(dayOf(from), dayAfter(dayOf(end.getTime() - 1)));
  return { unit, days, known: 0, found: [], resources: new Map(), failure };
}

/** Begins to get to know further days of these care units. */
async function goOn(
  db: Db,
  asker: Asker,
  search: TimeslotSearch,
  all: readonly Progress[],
  { running, slow, isLate }: Run,
): Promise<void> {
  const run = (progress: Progress, step: Promise<void>) => {
    const ended = step
      .catch((error: unknown) => {
        progress.failure = asFailure(error);
      })
      .finally(() => running.delete(progress));
    running.set(progress, { ended, endedOrSlow: Promise.race([ended, slow]) });
  };
  const [unnamed, named] = [true, false].map((is) =>
    all.filter(({ unit }) => (unit.findServiceIds !== undefined) === is),
  );
  for (const progress of unnamed ?? []) run(progress, findServices(asker, progress));
  if (!named?.length) return;
  const wanted = named.map((progress) => ({
    emr: progress.unit.ehr.id,
    careUnitId: progress.unit.careUnit.id,
    serviceIds: progress.unit.serviceIds,
    firstDay: progress.days[progress.known] as string,
    endDay: endOf(progress.days, reachOf(progress)),
  }));
  const kept = await readKeptDays(db, wanted, search.maxAgeSeconds);
  for (const [index, progress] of named.entries())
    run(progress, reachDays(asker, search, progress, kept[index] as KeptDays, isLate));
}

function reachOf({ known }: Progress): number {
  return reaches.find((reach) => reach > known) as number;
}

/** Finds out which services are wanted. Without any, the care unit has no slots. @throws Problem of the EHR */
async function findServices(asker: Asker, progress: Progress): Promise<void> {
  const { findServiceIds, ...unit } = progress.unit;
  const serviceIds = findServiceIds?.(await asker.servicesOf(unit));
  progress.unit = { ...unit, serviceIds };
  if (serviceIds?.length === 0) progress.days = [];
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
  kept: KeptDays,
  isLate: boolean,
): Promise<void> {
  const { unit, days } = progress;
  const reach = reachOf(progress);
  if (unit.needsResources) progress.resources = await asker.resourcesOf(unit);
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
  if (isLate) throw notYet();
  if (unit.ehr.capabilities.slotsByPatient === 'required')
    throw new Problem('operation_unsupported', { detail: byPatient });
  const refusal = await search.mayAsk(unit.ehr.id);
  if (refusal) throw refusal;
  while (progress.known < target) {
    const before = progress.known;
    take(progress, await asker.ask(unit, askFor()), days.length);
    if (progress.known === before) throw new Error('An answer has the first day that was asked for');
  }
}

const byPatient = 'This EHR finds time slots for one patient only. List those of the care unit, with `patient_id`.';

/** Takes the slots of the next days, as far as they are known. Returns when the oldest answer was asked for. */
function take(progress: Progress, known: AnsweredDays, target: number): number {
  const { days, found } = progress;
  let oldest = Number.POSITIVE_INFINITY;
  for (let day = nextDay(); day; day = nextDay()) {
    found.push(day);
    oldest = Math.min(oldest, day.askedAt);
    progress.known++;
  }
  return oldest;

  function nextDay(): KeptDay | undefined {
    return progress.known < target ? known.get(days[progress.known] as string) : undefined;
  }
}

/** A slot that is wanted, of a resource whose name is not known yet. */
type Wanted = Omit<FoundSlot, 'resource'>;

/** The first slots of those that are known, in order. At most one more than `limit`. */
function merge(all: readonly Progress[], search: TimeslotSearch): readonly Wanted[] {
  let first: readonly Wanted[] = [];
  for (const progress of all) {
    // Nothing later can be among the first ones.
    const latest = first.length > search.limit ? first.at(-1)?.slot[0] : undefined;
    first = [...first, ...wantedOf(progress, search, latest)].sort(inOrder).slice(0, search.limit + 1);
  }
  return first;
}

/** The first slots of a care unit that are wanted, none after `latest`. */
function wantedOf(
  { unit, found, resources }: Progress,
  { after, limit, perCareUnit = Number.POSITIVE_INFINITY }: Pick<TimeslotSearch, 'after' | 'limit' | 'perCareUnit'>,
  latest = Number.POSITIVE_INFINITY,
): readonly Wanted[] {
  const [start, end] = [Math.max(unit.start.getTime(), Date.now() + 1), unit.end.getTime()];
  const wanted: Wanted[] = [];
  let accepted = 0;
  for (const { askedAt, slots } of found) {
    for (const slot of slots) {
      if (slot[0] > latest || accepted === perCareUnit || wanted.length > limit) return wanted;
      if (slot[0] < start || slot[1] > end || !unit.accepts(slot, resources)) continue;
      accepted++;
      const one = { unit, slot, askedAt };
      if (!after || compareAll(positionOf(one), after) > 0) wanted.push(one);
    }
  }
  return wanted;
}

/** Whether nothing more of a care unit is looked for. */
function isKnown(progress: Progress, { perCareUnit }: TimeslotSearch): boolean {
  const { days, known, failure } = progress;
  if (failure || known === days.length) return true;
  if (perCareUnit === undefined) return false;
  const ofAll = { perCareUnit, limit: perCareUnit, after: undefined };
  return wantedOf(progress, ofAll).length === perCareUnit;
}

export function positionOf({ unit, slot }: Pick<FoundSlot, 'unit' | 'slot'>): SlotPosition {
  return [slot[0], unit.ehr.id, unit.careUnit.id, slot[2], slot[3]];
}

function inOrder(one: Wanted, other: Wanted): number {
  return one.slot[0] - other.slot[0] || compareAll(positionOf(one), positionOf(other));
}

function compareAll([start, ...names]: SlotPosition, other: SlotPosition): number {
  return start - other[0] || names.map((name, index) => compare(name, other[index + 1] as string)).find(Boolean) || 0;
}

/** Milliseconds. Slots are shown without the names of their resources rather than late. */
const longestNaming = 250;

async function withResources(asker: Asker, found: readonly Wanted[], waitMs: number): Promise<readonly FoundSlot[]> {
  const late = after(Math.min(waitMs, longestNaming));
  const withResource = async (it: Wanted) => {
    const resources = await Promise.race([asker.resourcesOf(it.unit).catch(() => undefined), late.promise]);
    return { ...it, resource: resources?.get(it.slot[2]) };
  };
  return Promise.all(found.map(withResource)).finally(late.stop);
}

function unanswered({ unit, failure }: Progress): Unanswered[] {
  if (!failure) return [];
  const { reason, detail, retryable, headers, cause } = failure;
  return [{ unit, reason, detail, cause, retryAfterSeconds: retryable ? Number(headers['retry-after'] ?? 1) : null }];
}

function after(milliseconds: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    resolve();
  }, milliseconds);
  return { promise, isOver: () => isOver, stop: () => clearTimeout(timer) };
}
