import type { HealthcareService, Resource, TimeSlot } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { LruMap } from 'toad-cache';
import { within } from '../context/work-context.ts';
import type { Db } from '../db/kysely.ts';
import { newDatabaseTime } from '../db/time-limit.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import { instantFormatter, startOfDay } from '../time/date-times.ts';
import type { InCareUnit } from '../writes/write-kind.ts';
import { dayLength, daysBetween } from './days.ts';
import { byPosition, type KeptDay, type KeptSlot, keepDays } from './kept.ts';

/** Free time slots of one care unit that are looked for. */
export interface UnitWanted extends InCareUnit {
  /** `undefined`: every healthcare service. */
  readonly serviceIds: readonly string[] | undefined;
}

/** The days of an answer. The first one that was asked for is always among them; a full answer has fewer than were asked for. */
export type AnsweredDays = ReadonlyMap<string, KeptDay>;

interface Asking {
  /** By the database's clock, just before. Milliseconds since 1970. */
  readonly askedAt: number;
  readonly firstDay: string;
  readonly endDay: string;
  readonly answer: Promise<AnsweredDays>;
}

export interface Ask {
  readonly firstDay: string;
  /** Not asked for any more. */
  readonly endDay: string;
  /** The database's time now. Milliseconds since 1970. */
  readonly now: number;
  /** An answer to a question that was asked after this is shared. */
  readonly since: number;
}

/** Slots for which an EHR is asked at once: of many care units, a search shows a few of each. */
const slotsAtOnce = 201;
/** Milliseconds. How long resources and services are used before they are asked for again. */
const directoryMs = 300_000;
const mostUnits = 10_000;
/** Searches that have used what is kept before it is asked for again in the background. */
const oftenAsked = 3;

/** Asks EHRs for free time slots, and keeps the answers for all gateways. */
export interface Asker {
  /** @throws Problem of the EHR. A caller that waits no longer does not end the call */
  ask(unit: UnitWanted, ask: Ask): Promise<AnsweredDays>;
  /**
   * Tells that a search has used kept slots, which come of age. If others have used them too and the EHR has nothing else to do,
   * they are asked for again.
   */
  used(unit: UnitWanted, ask: Ask): void;
  /** The resources of a care unit by id, kept for some minutes. @throws Problem of the EHR */
  resourcesOf(unit: InCareUnit): Promise<ReadonlyMap<string, Resource>>;
  /** The healthcare services of a care unit, kept as long. @throws Problem of the EHR */
  servicesOf(unit: InCareUnit): Promise<readonly HealthcareService[]>;
}

export function createAsker(db: Db, log: Logger): Asker {
  /** By care unit and services: what is being asked. */
  const running = new Map<string, Set<Asking>>();
  const uses = new LruMap<number>(mostUnits);

  async function callAndKeep(unit: UnitWanted, { firstDay, endDay, now }: Ask): Promise<AnsweredDays> {
    const days = await callForDays(unit, firstDay, endDay, now);
    const { ehr, careUnit, serviceIds } = unit;
    const whose = { emr: ehr.id, careUnitId: careUnit.id, serviceIds };
    // Nobody waits for it, so it takes no time from the search, and the slots are shown without it.
    within({ databaseTime: newDatabaseTime() }, () => keepDays(db, whose, [...days.values()])).catch((error: unknown) =>
      log.warn({ emr: ehr.id, cause: describeError(error) }, 'free time slots not kept'),
    );
    return days;
  }

  function ask(unit: UnitWanted, wanted: Ask): Promise<AnsweredDays> {
    const key = keyOf(unit);
    const others = running.get(key) ?? new Set<Asking>();
    for (const { askedAt, firstDay, endDay, answer } of others) {
      if (askedAt <= wanted.since || wanted.firstDay < firstDay || endDay <= wanted.firstDay) continue;
      // A full answer may end before that day.
      return answer.then((days) => (days.has(wanted.firstDay) ? days : ask(unit, wanted)));
    }
    const { firstDay, endDay, now } = wanted;
    const answer = callAndKeep(unit, wanted).finally(() => {
      others.delete(asking);
      if (others.size === 0) running.delete(key);
    });
    const asking: Asking = { askedAt: now, firstDay, endDay, answer };
    running.set(key, others.add(asking));
    uses.delete(key);
    return answer;
  }

  return {
    ask,
    used(unit, wanted) {
      const key = keyOf(unit);
      const count = (uses.get(key) ?? 0) + 1;
      uses.set(key, count);
      if (count >= oftenAsked && unit.ehr.isIdle() && !running.has(key)) ask(unit, wanted).catch(() => undefined);
    },
    resourcesOf: keptByUnit(async ({ ehr, careUnit }) => {
      const resources = await ehr.call('listResources', careUnit);
      return new Map(resources.map((resource) => [resource.id, resource]));
    }),
    servicesOf: keptByUnit(({ ehr, careUnit }) => ehr.call('listHealthcareServices', careUnit)),
  };
}

/** Reads what rarely changes of a care unit once in some minutes. A failure is not kept. */
function keptByUnit<Result>(read: (unit: InCareUnit) => Promise<Result>): (unit: InCareUnit) => Promise<Result> {
  /** By connection: a changed EHR has another one. */
  const kept = new WeakMap<EhrConnection, LruMap<Promise<Result>>>();
  return (unit) => {
    const { ehr, careUnit } = unit;
    const known = kept.get(ehr) ?? new LruMap(mostUnits, directoryMs);
    kept.set(ehr, known);
    const found = known.get(careUnit.id);
    if (found) return found;
    const reading = read(unit);
    known.set(careUnit.id, reading);
    reading.catch(() => known.delete(careUnit.id));
    return reading;
  };
}

function keyOf({ ehr, careUnit, serviceIds }: UnitWanted): string {
  return JSON.stringify([ehr.id, careUnit.id, serviceIds?.toSorted()]);
}

/** @param now by the database's clock */
async function callForDays(
  { ehr, careUnit, serviceIds }: UnitWanted,
  firstDay: string,
  endDay: string,
  now: number,
): Promise<AnsweredDays> {
  const { timeZone } = careUnit;
  // A slot that begins before midnight may end later.
  const end = startOfDay(endDay, timeZone, 1) as Date;
  const start = new Date(Math.max(Date.now(), (startOfDay(firstDay, timeZone) as Date).getTime()));
  const format = instantFormatter(timeZone);
  const found: TimeSlot[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await ehr.call('listTimeSlots', {
      careUnit,
      start,
      end,
      healthcareServiceIds: serviceIds,
      after,
      limit: slotsAtOnce,
    });
    found.push(...page);
    const last = page.at(-1);
    // Of the last day of a full answer, slots may be missing.
    const complete = page.length < slotsAtOnce || !last ? endDay : format(last.start).slice(0, dayLength);
    if (complete > firstDay)
      return byDay(found, { firstDay, endDay: complete < endDay ? complete : endDay }, format, now);
  }
}

function byDay(
  slots: readonly TimeSlot[],
  { firstDay, endDay }: Pick<Ask, 'firstDay' | 'endDay'>,
  format: (instant: Date) => string,
  askedAt: number,
): AnsweredDays {
  const days = daysBetween(firstDay, endDay).map((day) => [day, [] as KeptSlot[]] as const);
  const found = new Map(days);
  for (const { start, end, resourceId, healthcareServiceId, modality = null } of slots) {
    const slot: KeptSlot = [start.getTime(), end.getTime(), resourceId, healthcareServiceId, modality];
    found.get(format(start).slice(0, dayLength))?.push(slot);
  }
  return new Map(days.map(([day, its]) => [day, { day, askedAt, slots: its.sort(byPosition) }]));
}
