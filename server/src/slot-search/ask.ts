import { setImmediate } from 'node:timers/promises';
import type { HealthcareService, Resource, TimeSlot } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { LruMap } from 'toad-cache';
import { currentContext, within } from '../context/work-context.ts';
import type { Db } from '../db/kysely.ts';
import { newDatabaseTime } from '../db/time-limit.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import { localDay } from '../time/date-times.ts';
import type { InCareUnit } from '../writes/write-kind.ts';
import { dayAfter, daysBetween, startOf } from './days.ts';
import { byPosition, type KeptDay, type KeptSlot, keepDays } from './kept.ts';

/** Free time slots of one care unit that are looked for. */
export interface UnitWanted extends InCareUnit {
  /** `undefined`: every healthcare service. */
  readonly serviceIds: readonly string[] | undefined;
}

/** The days of an answer. */
export interface Answer {
  /** The first one that was asked for is always among them; a full answer has fewer than were asked for. */
  readonly days: ReadonlyMap<string, KeptDay>;
  /** Of a full answer: the day after those, with its first slots only. */
  readonly partial?: KeptDay | undefined;
}

interface Asking {
  readonly clientId: string | undefined;
  /** It has had its turn in the queue of the EHR. */
  hasBegun: boolean;
  /** By the database's clock, just before. Milliseconds since 1970. */
  readonly askedAt: number;
  readonly firstDay: string;
  readonly endDay: string;
  readonly answer: Promise<Answer>;
}

export interface Ask {
  readonly firstDay: string;
  /** Not asked for any more. */
  readonly endDay: string;
  /** The database's time now. Milliseconds since 1970. */
  readonly now: number;
  /** An answer to a question that was asked after this is shared. */
  readonly since: number;
  /** When the answer is kept, unless it comes later. Absent: at once. */
  readonly keptAfter?: Promise<void>;
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
  ask(unit: UnitWanted, ask: Ask): Promise<Answer>;
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

  async function callAndKeep(unit: UnitWanted, ask: Ask): Promise<Answer> {
    const answer = await callForDays(unit, ask);
    // Nobody waits for it, so it takes no time from the search, and the slots are shown without it.
    within({ databaseTime: newDatabaseTime() }, () => keep(unit, answer, ask)).catch((error: unknown) =>
      log.warn({ emr: unit.ehr.id, cause: describeError(error) }, 'free time slots not kept'),
    );
    return answer;
  }

  async function keep({ ehr, careUnit, serviceIds }: UnitWanted, { days }: Answer, { keptAfter }: Ask): Promise<void> {
    await keptAfter;
    await setImmediate();
    const whose = { emr: ehr.id, careUnitId: careUnit.id, source: ehr.source, serviceIds };
    await keepDays(db, whose, [...days.values()]);
  }

  /** A client does not wait in the queue of another one, but what the EHR is answering is for all. */
  function ask(unit: UnitWanted, wanted: Ask): Promise<Answer> {
    const key = keyOf(unit);
    const { clientId } = currentContext();
    const others = running.get(key) ?? new Set<Asking>();
    const other = find(others, wanted, (it) => it.hasBegun || it.clientId === clientId);
    if (other) return share(other);
    const { promise: answer, resolve } = Promise.withResolvers<Answer>();
    const { firstDay, endDay, now } = wanted;
    const asking: Asking = { clientId, hasBegun: false, askedAt: now, firstDay, endDay, answer };
    running.set(key, others.add(asking));
    let begunBefore: Asking | undefined;
    const lastCheck = async () => {
      begunBefore = asking.hasBegun ? undefined : find(others, wanted, (it) => it.hasBegun);
      if (begunBefore) throw new Error('Another client has asked already');
      asking.hasBegun = true;
    };
    const answered = within({ lastCheck }, () => callAndKeep(unit, wanted)).finally(() => {
      others.delete(asking);
      if (others.size === 0) running.delete(key);
    });
    resolve(
      answered.catch((error: unknown) => {
        if (begunBefore) return share(begunBefore);
        throw error;
      }),
    );
    uses.delete(key);
    return answer;

    /** A full answer may end before that day. */
    async function share(other: Asking): Promise<Answer> {
      const shared = await other.answer;
      return shared.days.has(wanted.firstDay) ? shared : ask(unit, wanted);
    }
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
  return JSON.stringify([ehr.id, ehr.source, careUnit.id, serviceIds?.toSorted()]);
}

/** A question whose answer may be shared. */
function find(running: Iterable<Asking>, wanted: Ask, suits: (asking: Asking) => boolean): Asking | undefined {
  for (const asking of running) {
    const { askedAt, firstDay, endDay } = asking;
    if (askedAt <= wanted.since || wanted.firstDay < firstDay || endDay <= wanted.firstDay) continue;
    if (suits(asking)) return asking;
  }
  return undefined;
}

async function callForDays({ ehr, careUnit, serviceIds }: UnitWanted, { firstDay, endDay, now }: Ask): Promise<Answer> {
  const { timeZone } = careUnit;
  // A slot that begins before midnight may end later.
  const end = new Date(startOf(dayAfter(endDay), timeZone));
  const start = new Date(Math.max(Date.now(), startOf(firstDay, timeZone)));
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
    const last = page.at(-1);
    if (last && after && byPosition(keptSlot(last), keptSlot(after)) <= 0)
      throw new Error(`The connector ${ehr.connector} shows time slots again that came before`);
    found.push(...page);
    // Of the last day of a full answer, slots may be missing.
    const complete = page.length < slotsAtOnce || !last ? endDay : localDay(last.start, timeZone);
    if (complete > firstDay) return byDay(found, { firstDay, complete, endDay }, timeZone, now);
  }
}

/** @param days `complete`: the day of which slots may be missing. None, if it is not before `endDay` */
function byDay(
  slots: readonly TimeSlot[],
  { firstDay, complete, endDay }: Pick<Ask, 'firstDay' | 'endDay'> & { readonly complete: string },
  timeZone: string,
  askedAt: number,
): Answer {
  const inOrder = slots.map(keptSlot).sort(byPosition);
  let next = skipBefore(startOf(firstDay, timeZone), inOrder, 0);
  const keptDay = (day: string): KeptDay => {
    const [from, end] = [next, startOf(dayAfter(day), timeZone)];
    next = skipBefore(end, inOrder, from);
    const its = inOrder.slice(from, next);
    const last = Math.max(...its.map((slot) => slot[1]));
    return { day, askedAt, lastDay: last > end ? localDay(new Date(last - 1), timeZone) : day, slots: its };
  };
  const days = daysBetween(firstDay, complete < endDay ? complete : endDay);
  return {
    days: new Map(days.map((day) => [day, keptDay(day)])),
    partial: complete < endDay ? keptDay(complete) : undefined,
  };
}

/** The place of the first slot that does not start before that time, if none of those before `place` does. */
function skipBefore(time: number, inOrder: readonly KeptSlot[], place: number): number {
  let next = place;
  for (let slot = inOrder[next]; slot && slot[0] < time; slot = inOrder[next]) next++;
  return next;
}

function keptSlot({ start, end, resourceId, healthcareServiceId, modality = null }: TimeSlot): KeptSlot {
  return [start.getTime(), end.getTime(), resourceId, healthcareServiceId, modality];
}
