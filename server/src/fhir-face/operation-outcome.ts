import type { OperationOutcome, OperationOutcomeIssue } from '@medplum/fhirtypes';
import type { Fault, Place, Problem } from '../problems/problem.ts';
import { reasons } from '../problems/reasons.ts';
import { issueTypes } from './issue-types.ts';
import { urls } from './urls.ts';

/** What FHIR calls the fields of the native endpoints. */
const elementOf: Readonly<Record<string, string>> = {
  '/patient_id': 'Appointment.participant',
  '/resource_id': 'Appointment.participant',
  '/healthcare_service_id': 'Appointment.serviceType',
  '/start_time': 'Appointment.start',
  '/end_time': 'Appointment.end',
  '/confirmation/code': 'Parameters.parameter',
  '/given_name': 'Patient.name',
  '/family_name': 'Patient.name',
  '/birth_date': 'Patient.birthDate',
  '/phone': 'Patient.telecom',
  '/email': 'Patient.telecom',
  '/address/lines': 'Patient.address',
  '/address/postal_code': 'Patient.address',
};

/** What a search in FHIR calls the parameters of the native endpoints. */
const parameterOf: Readonly<Record<string, string>> = {
  patient_id: 'patient',
  resource_id: 'actor',
  healthcare_service_id: 'service-type',
  start: 'date',
  end: 'date',
  cursor: '_page',
  limit: '_count',
};
/** Other names that a type has for them. */
const parameterOfType: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Patient: { patient_id: 'identifier' },
  Slot: { start: 'start', end: 'start' },
};

/**
 * A problem as an OperationOutcome: https://hl7.org/fhir/R4/operationoutcome.html. It has what the problem document has, so no
 * identifier and no text of the EHR.
 *
 * @param root the type of the resource in the body, or that is searched for
 */
export function operationOutcome(problem: Problem, requestId: string, root = 'Appointment'): OperationOutcome {
  const faults: readonly Partial<Fault>[] = problem.faults.length > 0 ? problem.faults : [{}];
  return { resourceType: 'OperationOutcome', issue: faults.map((fault) => issueOf(problem, fault, requestId, root)) };
}

function issueOf(problem: Problem, fault: Partial<Fault>, requestId: string, root: string): OperationOutcomeIssue {
  const { reason = problem.reason, detail = problem.detail, place, id, flaw } = fault;
  // An id in the path that does not exist is neither a parameter nor an element.
  const isInPath = place?.in === 'path' && reason.endsWith('_not_found');
  const expression = place && !isInPath ? expressionOf(place, root) : undefined;
  const { attempts_remaining: attempts } = problem.extensions;
  return {
    ...(attempts === undefined ? {} : { extension: [{ url: urls.attemptsRemaining, valueInteger: attempts }] }),
    severity: 'error',
    code: reason === 'request_invalid' && flaw ? flaw : issueTypes[reason].type,
    details: { coding: [{ system: urls.reasons, code: reason, display: reasons[reason].title }], text: detail },
    diagnostics: id === undefined ? `Request ${requestId}` : `Request ${requestId}, appointment ${id}`,
    // R4 defines `http.` for the older element only, and clients read the newer one.
    ...(expression === undefined ? {} : { expression: [expression], location: [expression] }),
  };
}

function expressionOf(place: Place, root: string): string {
  switch (place.in) {
    case 'body':
      return (
        elementOf[place.pointer] ??
        `${rootOf(place.pointer, root)}${place.pointer.split('/').slice(1).map(step).join('')}`
      );
    case 'header':
      return `http.header.${place.header}`;
    case 'path':
    case 'query': {
      const { parameter } = place;
      return `http.${parameterOfType[root]?.[parameter] ?? parameterOf[parameter] ?? parameter}`;
    }
  }
}

/** An Appointment can be a parameter: what is wrong with it is said of it. */
function rootOf(pointer: string, root: string): string {
  return root === 'Parameters' && !/^(\/parameter(\/|$)|$)/.test(pointer) ? 'Appointment' : root;
}

/** `participant`, `0`: `.participant[0]` */
function step(part: string): string {
  return /^\d+$/.test(part) ? `[${part}]` : `.${part}`;
}

/** What was left out of a write: the response shows what is stored. */
export function warning(text: string, expression: string): OperationOutcomeIssue {
  return { severity: 'warning', code: 'not-supported', details: { text }, expression: [expression] };
}

/** https://hl7.org/fhir/R4/operationoutcome.html#scope: an outcome without a fault has an issue too. */
export function allFine(text: string, more: readonly OperationOutcomeIssue[] = []): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'information', code: 'informational', details: { text } }, ...more],
  };
}
