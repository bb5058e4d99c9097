import type { Resource } from '@crossward/connector-kit';
import { checkRecurrence } from '@crossward/connector-kit/timetable';
import type { Access } from '../api/endpoint.ts';
import { readRange } from '../api/request-times.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { ScheduleCreationBody } from './contract.ts';
import type { ScheduleCreationPlan } from './kinds.ts';

const places = { start: inBody('start_time'), end: inBody('end_time') };
const longestMinutes = 24 * 60;
/** Each schedule is compared with the others of its resource. */
const mostSchedules = 100;
/** As far ahead as schedules are compared. */
const countedMilliseconds = 2 * 366 * 24 * 60 * 60 * 1000;

/** Checks everything but an overlap with other schedules, which the EHR checks. */
export async function planScheduleCreation(
  { ehr, careUnit }: Access,
  resource: Resource,
  body: ScheduleCreationBody,
): Promise<ScheduleCreationPlan> {
  const { start_time, end_time, slot_minutes, recurrence } = body;
  const first = readRange({ start: start_time, end: end_time }, places, careUnit.timeZone);
  assertSlotsFit(body);
  const lengthMilliseconds = first.end.getTime() - first.start.getTime();
  if (recurrence === undefined) {
    assertNotOver(first.end, 'The schedule has no occurrence in the future.');
  } else {
    const checked = checkRecurrence(start_time, recurrence, careUnit.timeZone);
    if ('fault' in checked) throw problemAt(inBody('recurrence'), 'recurrence_invalid', checked.fault);
    assertNotOver(
      new Date(checked.last.getTime() + lengthMilliseconds),
      'The recurrence has no occurrence in the future.',
    );
  }
  const services = await ehr.call('listHealthcareServices', careUnit, body.healthcare_service_ids);
  for (const [index, id] of body.healthcare_service_ids.entries()) {
    const place = inBody(`healthcare_service_ids/${index}`);
    if (!services.some((service) => service.id === id)) {
      throw problemAt(place, 'healthcare_service_not_found', 'The care unit has no healthcare service with this id.');
    }
    if (!resource.healthcareServiceIds.includes(id)) {
      throw problemAt(place, 'healthcare_service_not_offered', 'The resource does not offer this healthcare service.');
    }
  }
  await assertRoom({ ehr, careUnit }, resource);
  return {
    resourceId: resource.id,
    healthcareServiceIds: body.healthcare_service_ids,
    localStart: start_time,
    localEnd: end_time,
    slotMinutes: slot_minutes,
    recurrence: recurrence ?? null,
  };
}

/** In local time, so that a clock change does not matter. */
function assertSlotsFit({ start_time, end_time, slot_minutes }: ScheduleCreationBody): void {
  const minutes = (Date.parse(`${end_time}Z`) - Date.parse(`${start_time}Z`)) / 60_000;
  if (minutes > longestMinutes) {
    throw problemAt(places.end, 'time_range_invalid', 'An occurrence must not be longer than 24 hours.');
  }
  if (minutes % slot_minutes !== 0) {
    const detail = 'The time from `start_time` to `end_time` must be a whole number of slots.';
    throw problemAt(inBody('slot_minutes'), 'time_range_invalid', detail);
  }
}

/** Counts the schedules that have occurrences to come. Concurrent requests may create a few more. */
async function assertRoom({ ehr, careUnit }: Pick<Access, 'ehr' | 'careUnit'>, { id }: Resource): Promise<void> {
  if (!ehr.offers('listSchedules')) return;
  const range = { start: new Date(), end: new Date(Date.now() + countedMilliseconds) };
  const found = await ehr.call('listSchedules', { careUnit, resourceId: id, range, limit: mostSchedules });
  if (found.length < mostSchedules) return;
  throw new Problem('schedule_limit_reached', {
    detail: `The resource has ${mostSchedules} schedules with occurrences in the next two years.`,
  });
}

function assertNotOver(end: Date, detail: string): void {
  if (end.getTime() <= Date.now()) throw problemAt(places.end, 'time_range_invalid', detail);
}
