import type { FhirResource } from '../fhir.ts';

export const mediaType = 'application/fhir+json';

export function isResource(body: unknown): body is FhirResource {
  return typeof body === 'object' && body !== null && 'resourceType' in body && typeof body.resourceType === 'string';
}

/** `undefined` for a body that is not JSON, such as a proxy's page. */
export function parse(body: string): unknown {
  if (body.trim() === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
