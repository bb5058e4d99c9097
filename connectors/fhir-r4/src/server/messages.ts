import type { FhirResource } from '../fhir.ts';

export const mediaType = 'application/fhir+json';

export function isResource(body: unknown): body is FhirResource {
  return typeof body === 'object' && body !== null && 'resourceType' in body && typeof body.resourceType === 'string';
}

/** A byte order mark, which some servers send before JSON: https://www.rfc-editor.org/rfc/rfc8259#section-8.1 */
const byteOrderMark = /^\u{FEFF}/u;

/** `undefined` for a body that is not JSON, such as a proxy's page. */
export function parse(body: string): unknown {
  if (body.trim() === '') return undefined;
  try {
    return JSON.parse(body.replace(byteOrderMark, ''));
  } catch {
    return undefined;
  }
}

/** https://www.rfc-editor.org/rfc/rfc9110#name-etag, in the weak form that FHIR uses: https://hl7.org/fhir/R4/http.html#versioning */
export function weakTag(version: string): string {
  return `W/"${version}"`;
}

/** The version in an `ETag`, weak or not. */
export function versionIn(tag: string | undefined): string | undefined {
  return /"([^"]+)"/.exec(tag ?? '')?.[1];
}
