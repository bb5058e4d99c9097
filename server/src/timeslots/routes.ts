import type { TimeSlot } from '@crossward/connector-kit';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { patientIdentifier, resourceIdentifier } from '../api/identifiers.ts';
import { page } from '../api/paging.ts';
import { readRange } from '../api/request-times.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { requireHealthcareServices, requirePatient, requireResource } from '../ehr/lookups.ts';
import { formatIdentifier, type ReadHeader } from '../identifiers/index.ts';
import { inQuery } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { instantFormatter } from '../time/date-times.ts';
import { longestRangeHours, timeslotListSchema, timeslotQuery, timeslotSchema } from './contract.ts';
import { foundTimeslotSchema, timeslotSearchBody, unansweredSchema } from './search-contract.ts';
import { searchTimeslots } from './search-routes.ts';

export const listTimeslots = endpoint({
  operationId: 'list_timeslots',
  tag: 'Time slots',
  summary: 'List free time slots',
  description: 'Returns only slots that are entirely within the range and have not started.',
  level: 'care_unit',
  method: 'GET',
  path: '/timeslots',
  needs: ['listTimeSlots'],
  audit: 'if_patient',
  scopes: ['appointments:read', 'resources:read'],
  query: timeslotQuery,
  response: {
    status: 200,
    description: 'Free time slots, sorted by start, resource and service.',
    schema: timeslotListSchema,
  },
  reasons: [
    'time_range_invalid',
    'local_time_nonexistent',
    'cursor_invalid',
    'patient_ambiguous',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  reasonsOfNames: ['patient_not_found', 'resource_not_found', 'healthcare_service_not_found'],
  examples: {
    params: { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' },
    query: { start: '2027-03-19T08:00:00', end: '2027-03-19T16:00:00', healthcare_service_id: ['consultation'] },
    response: {
      timeslots: [
        {
          start: '2027-03-19T08:00:00+01:00',
          end: '2027-03-19T08:30:00+01:00',
          resource_id: 'emr_id:r-1',
          healthcare_service_id: 'consultation',
          modality: null,
        },
      ],
      next_cursor: null,
    },
  },
  async handle({ client, ehr, careUnit, query, readHeader, cursors }) {
    const places = { start: inQuery('start'), end: inQuery('end') };
    const range = readRange(query, places, careUnit.timeZone, longestRangeHours);
    const patientId = await patientOf(ehr, query.patient_id, readHeader);
    const identifiers = query.resource_id?.map((it) => resourceIdentifier(it, inQuery('resource_id'), ehr, readHeader));
    const resources =
      identifiers &&
      (await Promise.all(identifiers.map((it) => requireResource(ehr, careUnit, it, inQuery('resource_id')))));
    const resourceIds = resources && [...new Set(resources.map(({ id }) => id))].sort();
    const serviceIds = query.healthcare_service_id && [...new Set(query.healthcare_service_id)].sort();
    const servicePlace = inQuery('healthcare_service_id');
    if (serviceIds) await requireHealthcareServices(ehr, careUnit, serviceIds, servicePlace, patientId);
    const named = [resourceIds ?? null, serviceIds ?? null, ...(patientId === undefined ? [] : [patientId])];
    const filters = [ehr.id, careUnit.id, range.start, range.end, ...named];
    const { entries, next_cursor } = await page<TimeSlot>(
      cursors,
      query,
      { clientId: client.id, operationId: 'list_timeslots', filters },
      ({ start, resourceId, healthcareServiceId }) => [start, resourceId, healthcareServiceId],
      (after, limit) =>
        ehr.searchTimeSlots({
          careUnit,
          ...range,
          resourceIds,
          healthcareServiceIds: serviceIds,
          ...(patientId === undefined ? {} : { patientId }),
          after: after && {
            start: new Date(String(after[0])),
            resourceId: String(after[1]),
            healthcareServiceId: String(after[2]),
          },
          limit,
        }),
    );
    const format = instantFormatter(careUnit.timeZone);
    const timeslots = entries.map((slot) => ({
      start: format(slot.start),
      end: format(slot.end),
      resource_id: formatIdentifier({ type: 'emr_id', value: slot.resourceId }),
      healthcare_service_id: slot.healthcareServiceId,
      modality: slot.modality ?? null,
    }));
    return { body: { timeslots, next_cursor } };
  },
});

export const timeslotEndpoints: EndpointGroup = {
  schemas: [timeslotSchema, timeslotSearchBody, foundTimeslotSchema, unansweredSchema],
  endpoints: [listTimeslots, searchTimeslots],
};

/**
 * The EHR's id of the patient whose time slots are wanted.
 *
 * @throws Problem `request_invalid` if the EHR needs one, or has no slots by patient; `patient_not_found`
 */
async function patientOf(
  ehr: EhrConnection,
  text: string | undefined,
  readHeader: ReadHeader,
): Promise<string | undefined> {
  const { slotsByPatient } = ehr.capabilities;
  const place = inQuery('patient_id');
  if (text === undefined) {
    if (slotsByPatient !== 'required') return undefined;
    throw problemAt(
      place,
      'request_invalid',
      'This EHR finds time slots for one patient only: `patient_id` is missing.',
    );
  }
  if (!slotsByPatient) throw problemAt(place, 'request_invalid', 'This EHR has the same time slots for every patient.');
  return (await requirePatient(ehr, patientIdentifier(text, place, ehr, readHeader), place)).id;
}
