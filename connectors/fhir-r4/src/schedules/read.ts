import type { CareUnit, Period, Schedule, ScheduleQuery } from '@crossward/connector-kit';
import { openPeriodsOf } from '@crossward/connector-kit/timetable';
import { Temporal } from 'temporal-polyfill';
import { operationSystem } from '../booking/operation-ids.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { compare, type FhirSchedule, referenceTo } from '../fhir.ts';
import { escapeToken } from '../mappers/identifiers.ts';
import { readInstant } from '../mappers/instants.ts';
import { ownScheduleOf, timetableOf } from '../mappers/schedule.ts';
import { isFhirId } from '../patients/patients.ts';
import type { FhirConnection } from '../server/connection.ts';

/** The schedules of a resource. The directory is read anew: another gateway may have created one. */
export async function listSchedules(ehr: FhirConnection, query: ScheduleQuery): Promise<readonly Schedule[]> {
  const { careUnit, resourceId, range, after, limit } = query;
  const directory = await ehr.directory.reload(careUnit);
  const found = await ehr.client.readMany<FhirSchedule>(directory.schedulesOf([resourceId]));
  return found
    .filter(isShown)
    .filter((it) => range === undefined || isInRange(it, careUnit, range))
    .flatMap((it) => toSchedule(it, careUnit, directory) ?? [])
    .filter(({ id }) => after === undefined || id > after)
    .sort((a, b) => compare(a.id, b.id))
    .slice(0, limit);
}

export async function findSchedule(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resourceId: string,
  scheduleId: string,
): Promise<Schedule | null> {
  const found = await readSchedule(ehr, careUnit, resourceId, scheduleId);
  return found && toSchedule(found.resource, careUnit, found.directory);
}

interface FoundSchedule {
  readonly resource: FhirSchedule;
  readonly directory: CareUnitDirectory;
}

/** The schedule of this resource at this care unit. `null`: there is none, or it is out of use. */
export async function readSchedule(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resourceId: string,
  scheduleId: string,
): Promise<FoundSchedule | null> {
  const resource = isFhirId(scheduleId) ? await ehr.client.read<FhirSchedule>(`Schedule/${scheduleId}`) : null;
  if (!resource || resource.active === false || !isShown(resource)) return null;
  const directory = await directoryWith(ehr, careUnit, resource);
  return directory.offerOfSchedule(referenceTo(resource))?.resourceId === resourceId ? { resource, directory } : null;
}

/** Whether a creation is finished. */
function isShown(schedule: FhirSchedule): boolean {
  return ownScheduleOf(schedule)?.isReady !== false;
}

/**
 * The schedules in use of the write with this operation id. There are several if a server does not heed `If-None-Exist` and
 * receives a creation late. The first is the one that stays.
 */
export async function resourcesOfWrite(
  { client }: FhirConnection,
  operationId: string,
): Promise<readonly FhirSchedule[]> {
  const token = `${operationSystem}|${escapeToken(operationId)}`;
  const found = await client.search<FhirSchedule>('Schedule', [['identifier', token]], { few: true });
  const inUse = found.filter((it) => it.active !== false && ownScheduleOf(it) !== undefined);
  return inUse.sort(byAge);
}

/** The oldest first. */
export function byAge(a: FhirSchedule, b: FhirSchedule): number {
  const [ready, other] = [a, b].map((it) => (ownScheduleOf(it)?.isReady ? 0 : 1)) as [number, number];
  return (
    ready - other || compare(a.meta?.lastUpdated ?? '', b.meta?.lastUpdated ?? '') || compare(a.id ?? '', b.id ?? '')
  );
}

/** The directory, read anew if it does not know the schedule yet. */
export async function directoryWith(
  { directory }: FhirConnection,
  careUnit: CareUnit,
  schedule: FhirSchedule,
): Promise<CareUnitDirectory> {
  const known = await directory.of(careUnit);
  return known.offerOfSchedule(referenceTo(schedule)) ? known : directory.reload(careUnit);
}

/** `null`: a schedule of another care unit. */
export function toSchedule(
  resource: FhirSchedule,
  { timeZone }: CareUnit,
  directory: CareUnitDirectory,
): Schedule | null {
  const offer = directory.offerOfSchedule(referenceTo(resource));
  if (!offer || resource.id === undefined) return null;
  const own = ownScheduleOf(resource);
  const { start, end } = horizonOf(resource, timeZone);
  const times = own
    ? timetableOf(own)
    : {
        localStart: localText(start, timeZone),
        localEnd: localText(end, timeZone),
        slotMinutes: null,
        recurrence: null,
        endsAt: null,
        exceptions: [],
      };
  return {
    id: resource.id,
    resourceId: offer.resourceId,
    healthcareServiceIds: offer.services.map(({ id }) => id),
    ...times,
  };
}

/** A schedule of the EHR's own is in a range that its planning horizon overlaps. A missing bound is open. */
function isInRange(resource: FhirSchedule, { timeZone }: CareUnit, range: Period): boolean {
  const own = ownScheduleOf(resource);
  if (own) return openPeriodsOf(timetableOf(own), timeZone, range).length > 0;
  const { start, end } = horizonOf(resource, timeZone);
  return !(start && start >= range.end) && !(end && end <= range.start);
}

/**
 * Absent: the bound is open, or cannot be read. Bare dates are days of the care unit, and the end includes its day:
 * https://hl7.org/fhir/R4/datatypes.html#Period
 */
function horizonOf({ planningHorizon: { start, end } = {} }: FhirSchedule, timeZone: string) {
  return { start: readInstant(start) ?? dayOf(start, timeZone), end: readInstant(end) ?? dayOf(end, timeZone, 1) };
}

/** The start of a day, or of the one so many days later. */
function dayOf(date: string | undefined, timeZone: string, later = 0): Date | undefined {
  if (readInstant(`${date}T00:00:00Z`) === undefined || date === undefined) return undefined;
  const day = Temporal.PlainDate.from(date).add({ days: later });
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds);
}

function localText(moment: Date | undefined, timeZone: string): string | null {
  if (!moment) return null;
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timeZone);
  return zoned.toPlainDateTime().toString({ smallestUnit: 'second' });
}
