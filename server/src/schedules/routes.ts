import type { Schedule, ScheduleOperations } from '@crossward/connector-kit';
import { type Access, type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { resourceIdentifier } from '../api/identifiers.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { reference, resourceNotation, text } from '../api/schemas.ts';
import { requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inPath } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { plannedWrite } from '../writes/write-kind.ts';
import {
  type ScheduleBody,
  type ScheduleCreationBody,
  type ScheduleExceptionBody,
  scheduleCreationSchema,
  scheduleEndSchema,
  scheduleExceptionSchema,
  scheduleListSchema,
  scheduleQuery,
  scheduleSchema,
} from './contract.ts';
import { scheduleCreationKind, scheduleEndKind, scheduleExceptionKind } from './kinds.ts';
import { pageOfSchedules } from './list-schedules.ts';
import { planEnd, planException } from './plan-changes.ts';
import { planScheduleCreation } from './plan-creation.ts';
import { scheduleBody } from './representation.ts';

const creationExample: ScheduleCreationBody = {
  start_time: '2027-03-15T17:00:00',
  end_time: '2027-03-15T20:00:00',
  slot_minutes: 30,
  healthcare_service_ids: ['consultation'],
  recurrence: 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959',
};
const example: ScheduleBody = {
  id: '1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91',
  resource_id: 'emr_id:r-1',
  healthcare_service_ids: ['consultation'],
  start: '2027-03-15T17:00:00+01:00',
  end: '2027-03-15T20:00:00+01:00',
  slot_minutes: 30,
  recurrence: 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959',
  ends_at: null,
  exceptions: [],
};
const resourcePlace = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', resource_id: 'r-1' };
const schedulePlace = { ...resourcePlace, schedule_id: example.id };
const resourceParam = { resource_id: resourceNotation() };
const scheduleParams = { ...resourceParam, schedule_id: text({ description: 'Id of the schedule.' }) };

const readReasons = ['resource_not_found', ...identifierReasons, ...ehrReadReasons] as const satisfies Reason[];
const timeReasons = ['time_range_invalid', 'local_time_nonexistent'] as const satisfies Reason[];
const writeReasons = [
  ...readReasons,
  ...timeReasons,
  'outcome_unknown',
  'partially_applied',
] as const satisfies Reason[];
const changeReasons = [
  ...writeReasons,
  'schedule_not_found',
  'schedule_has_appointments',
] as const satisfies readonly Reason[];

const listSchedules = endpoint({
  operationId: 'list_schedules',
  tag: 'Schedules',
  summary: 'List schedules',
  level: 'care_unit',
  method: 'GET',
  path: '/resources/:resource_id/schedules',
  needs: ['findResource', 'listSchedules'],
  audit: 'none',
  scopes: ['resources:read'],
  params: resourceParam,
  query: scheduleQuery,
  response: { status: 200, description: 'Schedules, sorted by id.', schema: scheduleListSchema },
  reasons: [...readReasons, ...timeReasons, 'cursor_invalid'],
  examples: { params: resourcePlace, response: { schedules: [example], next_cursor: null } },
  async handle({ params, query, readHeader, ...access }) {
    const resource = await resourceOf(access, params.resource_id, readHeader);
    const { entries, next_cursor } = await pageOfSchedules(access, resource, query);
    return { body: { schedules: entries.map((it) => scheduleBody(it, access.careUnit)), next_cursor } };
  },
});

const createSchedule = endpoint({
  operationId: 'create_schedule',
  tag: 'Schedules',
  summary: 'Create a schedule',
  description:
    'The time slots of the schedule can be booked at once. It must not overlap another schedule of the resource within two years. An occurrence starts and ends at local times of the care unit; in between, slots follow each other in elapsed time. An occurrence whose start a clock change skips does not take place.',
  level: 'care_unit',
  method: 'POST',
  path: '/resources/:resource_id/schedules',
  needs: ['findResource', 'listHealthcareServices', 'createSchedule'],
  audit: 'none',
  scopes: ['schedules:write'],
  params: resourceParam,
  body: reference<ScheduleCreationBody>('ScheduleCreation'),
  response: { status: 201, description: 'The schedule.', schema: scheduleSchema },
  reasons: [
    ...writeReasons,
    'recurrence_invalid',
    'healthcare_service_not_offered',
    'schedule_overlap',
    'schedule_limit_reached',
  ],
  reasonsOfNames: ['healthcare_service_not_found'],
  examples: { params: resourcePlace, body: creationExample, response: example },
  async plan({ params, body, readHeader, ...access }) {
    requireOperation(access, 'createSchedule');
    const resource = await resourceOf(access, params.resource_id, readHeader);
    return plannedWrite(scheduleCreationKind, await planScheduleCreation(access, resource, body));
  },
});

const getSchedule = endpoint({
  operationId: 'get_schedule',
  tag: 'Schedules',
  summary: 'Get a schedule',
  level: 'care_unit',
  method: 'GET',
  path: '/resources/:resource_id/schedules/:schedule_id',
  needs: ['findResource', 'findSchedule'],
  audit: 'none',
  scopes: ['resources:read'],
  params: scheduleParams,
  response: { status: 200, description: 'The schedule.', schema: scheduleSchema },
  reasons: [...readReasons, 'schedule_not_found'],
  examples: { params: schedulePlace, response: example },
  async handle({ params, readHeader, ...access }) {
    return { body: scheduleBody(await scheduleOf(access, params, readHeader), access.careUnit) };
  },
});

const endSchedule = endpoint({
  operationId: 'end_schedule',
  tag: 'Schedules',
  summary: 'End a schedule',
  description:
    'Removes the occurrences that start at or after `end_time`, with their time slots. Rejected with `schedule_has_appointments` if appointments take some of these slots; `errors` lists their ids. A schedule that ends earlier already is not changed.',
  level: 'care_unit',
  method: 'POST',
  path: '/resources/:resource_id/schedules/:schedule_id/end',
  needs: ['findResource', 'findSchedule', 'endSchedule'],
  audit: 'none',
  scopes: ['schedules:write'],
  params: scheduleParams,
  body: reference<{ readonly end_time: string }>('ScheduleEnd'),
  response: { status: 200, description: 'The schedule.', schema: scheduleSchema },
  reasons: changeReasons,
  examples: {
    params: schedulePlace,
    body: { end_time: '2027-07-01T00:00:00' },
    response: { ...example, ends_at: '2027-07-01T00:00:00+02:00' },
  },
  async plan({ params, body, readHeader, ...access }) {
    requireOperation(access, 'endSchedule');
    return plannedWrite(scheduleEndKind, planEnd(access, await scheduleOf(access, params, readHeader), body));
  },
});

const addScheduleException = endpoint({
  operationId: 'add_schedule_exception',
  tag: 'Schedules',
  summary: 'Take a period out of a schedule',
  description:
    'Removes the time slots that overlap the period. Rejected with `schedule_has_appointments` if appointments take some of these slots; `errors` lists their ids.',
  level: 'care_unit',
  method: 'POST',
  path: '/resources/:resource_id/schedules/:schedule_id/exceptions',
  needs: ['findResource', 'findSchedule', 'addScheduleException'],
  audit: 'none',
  scopes: ['schedules:write'],
  params: scheduleParams,
  body: reference<ScheduleExceptionBody>('ScheduleException'),
  response: { status: 200, description: 'The schedule.', schema: scheduleSchema },
  reasons: changeReasons,
  examples: {
    params: schedulePlace,
    body: { start_time: '2027-05-17T00:00:00', end_time: '2027-05-18T00:00:00' },
    response: {
      ...example,
      exceptions: [{ start: '2027-05-17T00:00:00+02:00', end: '2027-05-18T00:00:00+02:00' }],
    },
  },
  async plan({ params, body, readHeader, ...access }) {
    requireOperation(access, 'addScheduleException');
    return plannedWrite(
      scheduleExceptionKind,
      planException(access, await scheduleOf(access, params, readHeader), body),
    );
  },
});

export const scheduleEndpoints: EndpointGroup = {
  schemas: [scheduleSchema, scheduleCreationSchema, scheduleEndSchema, scheduleExceptionSchema],
  endpoints: [listSchedules, createSchedule, getSchedule, endSchedule, addScheduleException],
};

/** @throws Problem `operation_unsupported` without a look-up if the EHR lacks the operation */
function requireOperation({ ehr }: Access, operation: keyof ScheduleOperations): void {
  if (!ehr.offers(operation)) throw new Problem('operation_unsupported');
}

async function resourceOf({ ehr, careUnit }: Access, notation: string, readHeader: ReadHeader) {
  const place = inPath('resource_id');
  return requireResource(ehr, careUnit, resourceIdentifier(notation, place, ehr, readHeader), place);
}

/** @throws Problem `resource_not_found`, `schedule_not_found` */
async function scheduleOf(
  access: Access,
  params: { readonly resource_id: string; readonly schedule_id: string },
  readHeader: ReadHeader,
): Promise<Schedule> {
  const resource = await resourceOf(access, params.resource_id, readHeader);
  const schedule = await access.ehr.call('findSchedule', access.careUnit, resource.id, params.schedule_id);
  if (!schedule) {
    throw problemAt(inPath('schedule_id'), 'schedule_not_found', 'The resource has no schedule with this id.');
  }
  return schedule;
}
