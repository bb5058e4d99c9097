import type { Static, TObject } from 'typebox';
import type { EndpointDeps } from '../api/endpoint.ts';
import { patientIdentifier, resourceIdentifier } from '../api/identifiers.ts';
import { type Page, page } from '../api/paging.ts';
import { readRange } from '../api/request-times.ts';
import { requirePatient, requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inQuery } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { appointmentQuery } from './contract.ts';
import { type Listed, loadListed } from './listed.ts';
import type { RequestContext } from './request-context.ts';

const places = { start: inQuery('start'), end: inQuery('end') };

type Query = Static<TObject<typeof appointmentQuery>>;

export async function pageOfAppointments(
  context: RequestContext & Pick<EndpointDeps, 'cursors'>,
  query: Query,
  readHeader: ReadHeader,
): Promise<Page<Listed>> {
  const { client, ehr, careUnit } = context;
  assertSelective(query);
  const { start, end } = query;
  const range =
    start !== undefined && end !== undefined ? readRange({ start, end }, places, careUnit.timeZone) : undefined;
  const patientPlace = inQuery('patient_id');
  const resourcePlace = inQuery('resource_id');
  const patientIdentity =
    query.patient_id === undefined ? undefined : patientIdentifier(query.patient_id, patientPlace, ehr, readHeader);
  const resourceIdentity =
    query.resource_id === undefined ? undefined : resourceIdentifier(query.resource_id, resourcePlace, ehr, readHeader);
  const patient = patientIdentity && (await requirePatient(ehr, patientIdentity, patientPlace));
  const resource = resourceIdentity && (await requireResource(ehr, careUnit, resourceIdentity, resourcePlace));
  const statuses = [...new Set(query.status ?? [])].sort();
  const filters = [ehr.id, careUnit.id, patient?.id ?? null, resource?.id ?? null, range ?? null, statuses];
  return page<Listed>(
    context.cursors,
    query,
    { clientId: client.id, operationId: 'list_appointments', filters },
    ({ id, appointment }) => [appointment.start, id],
    (after, limit) =>
      loadListed(context, {
        patientId: patient?.id,
        resourceId: resource?.id,
        range,
        statuses,
        after: after && { start: new Date(String(after[0])), id: String(after[1]) },
        limit,
      }),
  );
}

/** Requires a filter, so that no request can list everything. */
function assertSelective({ patient_id, resource_id, start, end }: Query): void {
  if ((start === undefined) !== (end === undefined)) {
    const missing = start === undefined ? 'start' : 'end';
    throw problemAt(inQuery(missing), 'request_invalid', '`start` and `end` must be sent together.');
  }
  if (patient_id === undefined && resource_id === undefined && start === undefined) {
    const detail = 'The query must have `patient_id`, `resource_id`, or both `start` and `end`.';
    throw new Problem('request_invalid', {
      detail,
      faults: ['patient_id', 'resource_id', 'start', 'end'].map((parameter) => ({
        place: inQuery(parameter),
        reason: 'request_invalid',
        detail,
      })),
    });
  }
}
