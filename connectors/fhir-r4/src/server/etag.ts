/** https://www.rfc-editor.org/rfc/rfc9110#name-etag, in the weak form that FHIR uses: https://hl7.org/fhir/R4/http.html#versioning */
export function weakTag(version: string): string {
  return `W/"${version}"`;
}

/** The version in an `ETag`, weak or not. */
export function versionIn(tag: string | undefined): string | undefined {
  return /"([^"]+)"/.exec(tag ?? '')?.[1];
}
