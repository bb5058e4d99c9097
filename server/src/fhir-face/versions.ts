/**
 * Whether `If-Match` names a version: `*`, or a list of `W/"v"`, `"v"` and, as some clients send it, `v`. RFC 9110, section 13.1.1,
 * where FHIR compares weakly: https://hl7.org/fhir/R4/http.html#concurrency
 */
export function namesVersion(header: string | undefined, versionId: string | undefined): boolean {
  return header?.trim() === '*' || tagsIn(header).some(([, quoted, bare]) => (quoted ?? bare) === versionId);
}

/** The same of `If-None-Match`, where a tag without quotes is ignored: fhirpy sends such tags to read anew. */
export function knowsVersion(header: string | undefined, versionId: string | undefined): boolean {
  return header?.trim() === '*' || tagsIn(header).some(([, quoted]) => quoted !== undefined && quoted === versionId);
}

function tagsIn(header = ''): RegExpExecArray[] {
  return [...header.matchAll(/(?:W\/)?"([^"]*)"|([^\s,"]+)/gi)];
}
