import type { OperationOutcome, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { Access, ReadShown, Representation, Shown } from '../api/endpoint.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { Problem } from '../problems/problem.ts';
import type { InCareUnit } from '../writes/write-kind.ts';
import { fromFhirId } from './ids.ts';
import { issueTypes } from './issue-types.ts';
import { operationOutcome } from './operation-outcome.ts';
import { etagOf, sendInFormat } from './preferences.ts';
import { knowsVersion } from './versions.ts';

/** Below the path of a care unit, and below `/api` for all of them. */
export const facePath = '/fhir-r4';

/** The client, EHR and care unit of a request to the face. */
export function accessOf({ access }: FastifyRequest): Access {
  const { client, ehr, careUnit } = access ?? {};
  if (!client || !ehr || !careUnit) throw new Error('A request without a care unit');
  return { client, ehr, careUnit };
}

/** The base URL of a request: that of its care unit, or the one over all care units. */
export function baseOf(request: FastifyRequest): string {
  const isOverAll = request.routeOptions.config.endpoint?.level === 'client';
  return isOverAll ? `${request.server.endpointDeps.publicUrl()}/api${facePath}` : unitBase(request, accessOf(request));
}

/** The base URL of a care unit. */
export function unitBase({ server }: FastifyRequest, { ehr, careUnit }: InCareUnit): string {
  return urlOfUnit(server.endpointDeps.publicUrl(), ehr.id, careUnit.id);
}

/** The same, without a request. */
export function urlOfUnit(publicUrl: string, emr: string, careUnitId: string): string {
  return `${publicUrl}/api/emrs/${encodeURIComponent(emr)}/care-units/${encodeURIComponent(careUnitId)}${facePath}`;
}

/** @param type of the resource in the body, or that is read or searched for */
export function faceRepresentation(type = 'Appointment'): Representation {
  return {
    standard: 'fhir-r4',
    send: sendInFormat,
    showProblem: (problem, request) => ({
      status: statusOf(problem, request),
      headers: problem.headers,
      body: outcomeOf(problem, request, type),
    }),
  };
}

export function outcomeOf(problem: Problem, request: FastifyRequest, type?: string): OperationOutcome {
  const { resourceType } = (request.body ?? {}) as { readonly resourceType?: unknown };
  const root = resourceType === 'Parameters' ? resourceType : type;
  return operationOutcome(inTermsOf(request, problem), problem.requestId ?? request.id, root);
}

/** What a client named in `If-None-Exist` is not told of `Idempotency-Key`. */
function inTermsOf({ headers }: FastifyRequest, problem: Problem): Problem {
  const isCondition = headers['if-none-exist'] !== undefined && headers['idempotency-key'] === undefined;
  if (!isCondition || problem.reason !== 'idempotency_key_reused') return problem;
  const detail = 'What became of another request with the identifier of `If-None-Exist` is not known.';
  const place = { in: 'header', header: 'if-none-exist' } as const;
  const { reason, status, requestId } = problem;
  const faults = [{ place, reason, detail }];
  return new Problem(reason, { status, detail, faults, ...(requestId === undefined ? {} : { requestId }) });
}

/** The native status, unless FHIR has another one for a write. */
function statusOf({ reason, status }: Problem, { method, routeOptions }: FastifyRequest): number {
  const isWrite = method !== 'GET' && !routeOptions.config.isRead;
  // What a path names and what is not found stays 404.
  return (isWrite && status !== 404 && issueTypes[reason].writeStatus) || status;
}

/** A resource with its version, or 304 if the client has it: https://hl7.org/fhir/R4/http.html#cread */
export function showRead(resource: Resource, request: FastifyRequest): Shown {
  const { versionId } = resource.meta ?? {};
  const headers = versionId === undefined ? {} : { etag: etagOf(versionId) };
  const isKnown = knowsVersion(request.headers['if-none-match'], versionId);
  return isKnown ? { status: 304, headers } : { status: 200, headers, body: resource };
}

/** @throws Problem `request_invalid` with 404: the type has no resource with the id */
export function unknownResource(
  reason:
    | 'patient_not_found'
    | 'resource_not_found'
    | 'appointment_not_found'
    | 'healthcare_service_not_found'
    | 'schedule_not_found',
): Problem {
  return new Problem(reason, { status: 404 });
}

/** The patients and appointments that a response shows, for the audit trail. */
export const shownInFhir: ReadShown = (body) => {
  const { entry } = body as { readonly entry?: readonly { readonly resource?: Resource }[] };
  const resources = entry ? entry.flatMap(({ resource }) => resource ?? []) : [body as Resource];
  return {
    patients: resources.flatMap((it) => patientIdsIn(it).map((value) => formatIdentifier({ type: 'emr_id', value }))),
    records: resources.flatMap((it) => (it.resourceType === 'Appointment' ? (fromFhirId(it.id ?? '') ?? []) : [])),
  };
};

function patientIdsIn(resource: Resource): string[] {
  if (resource.resourceType === 'Patient') return [fromFhirId(resource.id ?? '') ?? []].flat();
  if (resource.resourceType !== 'Appointment') return [];
  return resource.participant.flatMap(({ actor }) => {
    const [type, id = ''] = (actor?.reference ?? '').split('/');
    return type === 'Patient' ? (fromFhirId(id) ?? []) : [];
  });
}
