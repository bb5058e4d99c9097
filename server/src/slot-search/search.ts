import { setImmediate } from 'node:timers/promises';
import type { Resource } from '@crossward/connector-kit';
import type { Db } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import type { Asker } from './ask.ts';
import { dayAfter } from './days.ts';
import { changedDays, type KeptDays, type KeptSlot, readKeptDays } from './kept.ts';
import {
  begin,
  forgetFrom,
  isKnown,
  leaveOut,
  merge,
  type PageBounds,
  type Progress,
  take,
  type UnitSearch,
  type Wanted,
} from './progress.ts';

export interface TimeslotSearch extends PageBounds {
  readonly units: readonly UnitSearch[];
  /** 0: every EHR is asked. */
  readonly maxAgeSeconds: number;
  /** Milliseconds that the search waits for EHRs. */
  readonly waitMs: number;
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
/** Part of the wait after which the other care units go on without a slow one, and what was answered is kept. */
const slowPart = 1 / 4;

/**
 * Finds the first free time slots of many care units, from what is kept and from the EHRs. One that fails or is slow neither
 * delays nor hides the others.
 */
export async function findFreeSlots(db: Db, asker: Asker, search: TimeslotSearch): Promise<FoundSlots> {
  const all = search.units.map((unit) => begin(unit, search));
  const running = new Map<Progress, Step>();
  const late = after(search.waitMs);
  const timers = [late];
  /** Those with other slots than when they were merged. */
  const changed = new Set<Progress>();
  const merged = new Set<Progress>();
  let found: readonly Wanted[] = [];
  /** Since what is kept was read, appointments may have been booked. */
  let hasWaited = false;
  try {
    for (;;) {
      // Slots of days that were known in part, or that have changed, may be gone.
      if ([...changed].some((progress) => merged.has(progress))) {
        found = [];
        for (const progress of merged) changed.add(progress);
      }
      for (const progress of changed) {
        found = merge(found, progress.wanted, search);
        merged.add(progress);
      }
      changed.clear();
      const isLate = late.isOver();
      for (const progress of isLate ? running.keys() : [])
        if (wantsMore(progress, search, found)) progress.failure = notYet();
      const open = all.filter((progress) => wantsMore(progress, search, found));
      if (open.length === 0) {
        const { named, hasWaited: hasWaitedForNames } = await withResources(asker, found, search.waitMs);
        const mayAskAgain = (progress: Progress) => !late.isOver() && !running.has(progress);
        const forgotten = hasWaited || hasWaitedForNames ? await forgetChanged(db, all, found, mayAskAgain) : [];
        hasWaited = false;
        if (forgotten.length === 0) return { found: named, unanswered: all.flatMap(unanswered) };
        for (const progress of forgotten) changed.add(progress);
        continue;
      }
      const wanting = open.filter((progress) => !running.has(progress));
      if (wanting.length > 0) {
        const slow = after(search.waitMs * slowPart);
        timers.push(slow);
        await goOn(db, asker, search, wanting, { running, changed, slow: slow.promise, isLate });
      }
      const steps = open.flatMap((progress) => running.get(progress) ?? []);
      const next =
        wanting.length > 0
          ? Promise.all(steps.map(({ endedOrSlow }) => endedOrSlow))
          : Promise.race(steps.map(({ ended }) => ended));
      // What ends at the same time is looked at together.
      await setImmediate();
      if (open.some((progress) => running.has(progress))) {
        hasWaited = true;
        await Promise.race([late.promise, next]);
        await setImmediate();
      }
    }
  } finally {
    for (const timer of timers) timer.stop();
  }
}

/**
 * Forgets days that have changed since they were asked for. An EHR is asked for them once again. If they change then, too, they
 * are left out. Returns the care units that have lost some.
 */
async function forgetChanged(
  db: Db,
  all: readonly Progress[],
  found: readonly Wanted[],
  mayAskAgain: (progress: Progress) => boolean,
): Promise<readonly Progress[]> {
  const shown = new Map(
    found.map(({ unit, day }) => [day, { emr: unit.ehr.id, careUnitId: unit.careUnit.id, unit, ...day }]),
  );
  const changed = Map.groupBy(await changedDays(db, [...shown.values()]), ({ unit }) => unit);
  const losing = all.filter(({ unit }) => changed.has(unit));
  for (const progress of losing) {
    const days = (changed.get(progress.unit) ?? []).map(({ day }) => day).sort();
    if (progress.failure || progress.isAskedAgain || !mayAskAgain(progress)) leaveOut(progress, new Set(days));
    else {
      progress.isAskedAgain = true;
      forgetFrom(progress, days[0] as string);
    }
  }
  return losing;
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
  /** Gets those with other slots. */
  readonly changed: Set<Progress>;
  readonly slow: Promise<void>;
  /** Only what is kept is looked at. */
  readonly isLate: boolean;
}

/** Whether slots that are not known yet can be among the first ones. */
function wantsMore(progress: Progress, search: TimeslotSearch, found: readonly Wanted[]): boolean {
  if (isKnown(progress, search)) return false;
  const last = found.length > search.limit ? found.at(-1) : undefined;
  return !last || progress.knownUntil <= last.slot[0];
}

/** Begins to get to know further days of these care units. */
async function goOn(
  db: Db,
  asker: Asker,
  search: TimeslotSearch,
  all: readonly Progress[],
  { running, changed, slow, isLate }: Run,
): Promise<void> {
  const run = (progress: Progress, step: Promise<void>) => {
    const ended = step
      .catch((error: unknown) => {
        progress.failure = asFailure(error);
      })
      .finally(() => {
        running.delete(progress);
        changed.add(progress);
      });
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
    source: progress.unit.ehr.source,
    settlingSeconds: progress.unit.ehr.times.settlingSeconds,
    serviceIds: progress.unit.serviceIds,
    firstDay: progress.days[progress.known] as string,
    endDay: endOf(progress.days, reachOf(progress)),
  }));
  const kept = await readKeptDays(db, wanted, search.maxAgeSeconds);
  for (const [index, progress] of named.entries())
    run(progress, reachDays(asker, search, progress, kept[index] as KeptDays, { slow, isLate }));
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
  { slow, isLate }: Pick<Run, 'slow' | 'isLate'>,
): Promise<void> {
  const { unit, days } = progress;
  const reach = reachOf(progress);
  if (unit.needsResources) progress.resources = await asker.resourcesOf(unit);
  const askFor = () => ({
    firstDay: days[progress.known] as string,
    endDay: endOf(days, Math.max(reach, progress.known + daysAtOnce)),
    now: kept.now,
    since: Math.max(kept.changedAt, kept.now - search.maxAgeSeconds * 1000),
    keptAfter: slow,
  });
  const target = Math.min(reach, days.length);
  const first = askFor();
  const oldest = take(progress, kept, target, search);
  if (kept.now - oldest > (search.maxAgeSeconds * 1000) / 2) asker.used(unit, { ...first, since: kept.changedAt });
  if (progress.known === target) return;
  if (isLate) throw notYet();
  if (unit.ehr.capabilities.slotsByPatient === 'required')
    throw new Problem('operation_unsupported', { detail: byPatient });
  const refusal = await search.mayAsk(unit.ehr.id);
  if (refusal) throw refusal;
  while (progress.known < target) {
    const before = progress.known;
    take(progress, await asker.ask(unit, askFor()), days.length, search);
    if (progress.known === before) throw new Error('An answer has the first day that was asked for');
  }
}

const byPatient = 'This EHR finds time slots for one patient only. List those of the care unit, with `patient_id`.';

/** Milliseconds. Slots are shown without the names of their resources rather than late. */
const longestNaming = 250;

interface Named {
  readonly named: readonly FoundSlot[];
  readonly hasWaited: boolean;
}

async function withResources(asker: Asker, found: readonly Wanted[], waitMs: number): Promise<Named> {
  const late = after(Math.min(waitMs, longestNaming));
  const withResource = async ({ unit, slot, day: { askedAt } }: Wanted): Promise<FoundSlot> => {
    const resources = await Promise.race([asker.resourcesOf(unit).catch(() => undefined), late.promise]);
    return { unit, slot, askedAt, resource: resources?.get(slot[2]) };
  };
  let isNamed = false;
  const naming = Promise.all(found.map(withResource)).finally(() => {
    isNamed = true;
    late.stop();
  });
  await setImmediate();
  const hasWaited = !isNamed;
  return { named: await naming, hasWaited };
}

function unanswered({ unit, failure }: Progress): Unanswered[] {
  if (!failure) return [];
  const { reason, detail, retryable, headers, cause } = failure;
  return [{ unit, reason, detail, cause, retryAfterSeconds: retryable ? Number(headers['retry-after'] ?? 1) : null }];
}

/** @param promise of the result: fulfilled after that time, or when it is stopped before */
function after(milliseconds: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    resolve();
  }, milliseconds);
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  return { promise, isOver: () => isOver, stop };
}
