import type { Bundle, BundleEntry, FhirResource } from '../fhir.ts';

interface Link {
  readonly relation?: unknown;
  readonly url?: string;
}

/** The entries that can be read. Some servers send none, or `null` among them. */
export function entriesOf({ entry }: Bundle): readonly BundleEntry[] {
  return Array.isArray(entry) ? entry.filter(isObject) : [];
}

export function linksOf({ link }: Bundle): readonly Link[] {
  return Array.isArray(link) ? link.filter((it) => isObject(it) && typeof it.url === 'string') : [];
}

/** The resources of this type that a search was for. */
export function matchesIn(bundle: Bundle, type: string): readonly FhirResource[] {
  return entriesOf(bundle).flatMap(({ resource, search }) =>
    resource?.resourceType === type && search?.mode !== 'include' && search?.mode !== 'outcome' ? [resource] : [],
  );
}

/** The resources that `_include` and `_revinclude` have added. */
export function includedIn(bundle: Bundle): readonly FhirResource[] {
  return entriesOf(bundle).flatMap(({ resource, search }) =>
    resource && search?.mode === 'include' ? [resource] : [],
  );
}

/** The base URLs under which a server says that these matches are: https://hl7.org/fhir/R4/bundle.html#bundle-unique */
export function basesIn(bundle: Bundle, type: string): readonly string[] {
  return entriesOf(bundle).flatMap(({ fullUrl, resource, search }) => {
    const path = `/${type}/${resource?.id}`;
    if (search?.mode === 'include' || typeof fullUrl !== 'string' || !fullUrl.endsWith(path)) return [];
    const base = fullUrl.slice(0, -path.length);
    return /^https?:/.test(base) && URL.canParse(base) ? base : [];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
