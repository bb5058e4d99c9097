/**
 * Whether `If-Match` names a version: `*`, or a list of `W/"v"`, `"v"` and, as some clients send it, `v`. RFC 9110, section 13.1.1,
 * where FHIR compares weakly: https://hl7.org/fhir/R4/http.html#concurrency
 */
export function namesVersion(header: string | undefined, versionId: string | undefined): boolean {
  return header?.trim() === '*' || tagsIn(header).some(([, quoted, bare]) => (quoted ?? bare) === versionId);
}

/** The same of `If-None-Match`. A tag without quotes names nothing: fhirpy sends one, and knows no 304. */
export function knowsVersion(header: string | undefined, versionId: string | undefined): boolean {
  return header?.trim() === '*' || tagsIn(header).some(([, quoted]) => quoted !== undefined && quoted === versionId);
}

function tagsIn(header = ''): RegExpExecArray[] {
  return [...header.matchAll(/(?:W\/)?"([^"]*)"|([^\s,"]+)/gi)];
}
