/** Maps an absolute reference to the server itself to a relative one, and leaves every other as it is. */
export type OwnReferences = (reference: string) => string;

/**
 * References that name one of these base URLs are relative ones: `https://ehr.example/fhir/Patient/1` is `Patient/1` there. The
 * same path at another server is another record: https://hl7.org/fhir/R4/references.html#literal
 */
export function ownReferences(baseUrls: readonly string[]): OwnReferences {
  const prefixes = [...new Set(baseUrls.map(prefixOf))];
  return (reference) => {
    if (!/^https?:/i.test(reference)) return reference;
    const url = URL.parse(reference)?.href;
    const prefix = prefixes.find((it) => url?.startsWith(it));
    return url === undefined || prefix === undefined ? reference : url.slice(prefix.length);
  };
}

/** In the normal form of a URL: the host in lower case, without the default port. */
function prefixOf(baseUrl: string): string {
  return `${new URL(baseUrl).href.replace(/\/+$/, '')}/`;
}
