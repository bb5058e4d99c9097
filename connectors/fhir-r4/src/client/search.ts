import { ConnectorError } from '@crossward/connector-kit';
import type { FhirClient, SearchOptions, SearchParameters } from '../client.ts';
import { type Bundle, type FhirResource, isBundle } from '../fhir.ts';
import { isRejection } from '../outcome.ts';
import { nextPage } from './next-page.ts';
import { assertHaveIds } from './right-answer.ts';
import type { Query } from './send.ts';

const mostPages = 1000;
/**
 * Smaller than a page of any known server. HAPI sends no link to a next page with a result that it does not store, so
 * if there are more matches than this, some may be missing.
 */
const certainlyOnePage = 10;

/** https://hl7.org/fhir/R4/search.html */
export function searcher(
  query: Query,
  base: string,
  preferStrict: boolean,
): Pick<FhirClient, 'pages' | 'search' | 'history'> {
  let rejectsSorting = false;
  const prefer: Readonly<Record<string, string>> = preferStrict ? { prefer: 'handling=strict' } : {};

  function firstPage(type: string, parameters: SearchParameters, { post = false, few = false }: SearchOptions) {
    const headers = { 'cache-control': few ? 'no-store' : 'no-cache', ...prefer };
    const form = formOf(parameters);
    if (!post) return query(type, { method: 'GET', url: `${base}/${type}${form === '' ? '' : `?${form}`}`, headers });
    return query(type, {
      method: 'POST',
      url: `${base}/${type}/_search`,
      body: form,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    });
  }

  async function sortedFirstPage(type: string, parameters: SearchParameters, options: SearchOptions): Promise<Bundle> {
    const ordered = rejectsSorting ? parameters : inOneOrder(parameters);
    const bundle = await firstPage(type, ordered, options).catch(async (error: unknown) => {
      if (ordered === parameters || !isRejection(error)) throw error;
      const unordered = await firstPage(type, parameters, options);
      rejectsSorting = true;
      return unordered;
    });
    return checked(bundle);
  }

  /**
   * A server may respond to a search from a cache that is a minute old, unless it is asked for `no-cache`. With
   * `no-store` it does not write the result into its search tables either:
   * https://hapifhir.io/hapi-fhir/docs/server_jpa/performance.html. That is for few resources: HAPI cuts a longer result off, and
   * tells it neither by a link nor by `total`.
   */
  async function* pages(type: string, parameters: SearchParameters, options: SearchOptions = {}) {
    let bundle = await sortedFirstPage(type, parameters, options);
    const count = matches(bundle, type).length;
    const mayMiss = count >= certainlyOnePage && count !== idsIn(parameters);
    if (options.few && mayMiss && nextPage(bundle, base) === undefined) {
      bundle = await sortedFirstPage(type, parameters, { ...options, few: false });
    }
    for await (const page of withFurtherPages(type, bundle)) {
      const self = page.link?.find(({ relation }) => relation === 'self')?.url ?? '';
      const resources = matches(page, type);
      assertHaveIds(type, resources);
      yield { resources, included: included(page), sorted: /[?&]_sort=/.test(self) };
    }
  }

  async function* history(path: string, parameters: SearchParameters) {
    const url = `${base}/${path}?${formOf(parameters)}`;
    const first = checked(await query(path, { method: 'GET', url, headers: { 'cache-control': 'no-cache' } }));
    for await (const { entry } of withFurtherPages(path, first)) yield entry ?? [];
  }

  /** A page and those that follow it. The next one is fetched when it is needed. */
  async function* withFurtherPages(what: string, first: Bundle) {
    const headers = { 'cache-control': 'no-cache', ...prefer };
    const seen = new Set<string>();
    let bundle = first;
    for (let page = 0; page < mostPages; page++) {
      yield bundle;
      const next = nextPage(bundle, base);
      if (next === undefined || seen.has(next)) return;
      seen.add(next);
      bundle = checked(await query(what, { method: 'GET', url: next, headers }));
    }
    throw new ConnectorError('rejected', `The EHR sent more than ${mostPages} pages`);
  }

  async function search<R extends FhirResource>(type: string, parameters: SearchParameters, options?: SearchOptions) {
    const found = new Map<string, R>();
    for await (const { resources } of pages(type, parameters, options)) {
      for (const resource of resources) found.set(resource.id ?? '', resource as R);
    }
    return [...found.values()];
  }

  return { pages, search, history };
}

export function formOf(parameters: SearchParameters): string {
  return new URLSearchParams([...parameters] as [string, string][]).toString();
}

/** How many ids a search names. */
function idsIn(parameters: SearchParameters): number | undefined {
  return parameters.find(([name]) => name === '_id')?.[1].split(',').length;
}

function checked(bundle: FhirResource): Bundle {
  if (isBundle(bundle)) return bundle;
  throw new ConnectorError('rejected', 'The EHR responded to a search without a Bundle');
}

/**
 * Sorts by `_id` last. Otherwise a server that pages by offset, such as Medplum, may repeat some of several equal
 * resources and miss others. A search by id or identifier has no second page.
 */
function inOneOrder(parameters: SearchParameters): SearchParameters {
  if (parameters.some(([name]) => name === '_id' || name === 'identifier')) return parameters;
  const sort = parameters.find(([name]) => name === '_sort')?.[1];
  const others = parameters.filter(([name]) => name !== '_sort');
  return [...others, ['_sort', sort === undefined ? '_id' : `${sort},_id`]];
}

function matches(bundle: Bundle, type: string): FhirResource[] {
  return (bundle.entry ?? []).flatMap(({ resource, search }) =>
    resource?.resourceType === type && search?.mode !== 'include' && search?.mode !== 'outcome' ? [resource] : [],
  );
}

function included(bundle: Bundle): FhirResource[] {
  return (bundle.entry ?? []).flatMap(({ resource, search }) =>
    resource && search?.mode === 'include' ? [resource] : [],
  );
}
