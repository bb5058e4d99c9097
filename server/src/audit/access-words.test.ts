import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faceEndpoints } from '../fhir-face/routes.ts';
import { operationInWords, outcomeInWords } from './access-words.ts';

/** Operations on patients, appointments, medical notes and documents leave entries. */
const audited = /\/(patients|appointments)\b/;

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as OpenApi;
const operations = Object.entries(paths)
  .filter(([path]) => audited.test(path))
  .flatMap(([, methods]) => Object.values(methods).flatMap(({ operationId }) => operationId ?? []));

/** Those of the FHIR face are in no OpenAPI document. */
const inFhir = faceEndpoints
  .map(({ operationId }) => operationId)
  .filter((name) => /patient|appointment|code/.test(name));

test('every operation that leaves an entry has words for the patient', () => {
  expect(operations.length).toBeGreaterThan(10);
  expect(inFhir.length).toBeGreaterThan(10);
  for (const operation of [...operations, ...inFhir]) {
    expect(operationInWords({ operation })).not.toBe(operation.replaceAll('_', ' '));
  }
});

test('an outcome is told in words', () => {
  expect(outcomeInWords({ outcome: 'success' })).toBe('Done');
  expect(outcomeInWords({ outcome: 'patient_not_found' })).toBe('Not done: patient not found');
  expect(outcomeInWords({ outcome: 'of_a_later_release' })).toBe('Not done: of a later release');
});
