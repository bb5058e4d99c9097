import { ConnectorError } from '@crossward/connector-kit';
import { type Bundle, type FhirResource, isBundle } from '../fhir.ts';
import { basesIn, entriesOf, includedIn, linksOf, matchesIn } from './bundle.ts';
import type { FhirClient, SearchOptions, SearchParameters } from './client.ts';
import type { Habits } from './habits.ts';
import { saysNothingMatches } from './outcome.ts';
import type { Ask } from './questions.ts';
import type { Receiver } from './received/receive.ts';
import { emptyBundle, type Query } from './send.ts';

const mostPages = 1000;
/**
 * Smaller than a page of any known server. HAPI sends no link to a next page with a result that it does not store, so
 * if there are more matches than this, some may be missing.
 */
const certainlyOnePage = 10;

/** https://hl7.org/fhir/R4/search.html */
export function searcher(
  query: Query,
  {
    base,
    otherBases,
    preferStrict,
    postsSearches = false,
    searchProfiles = {},
    habits,
    receiver,
    ask,
    isForOne,
  }: Searched,
): Pick<FhirClient, 'pages' | 'search' | 'history'> {
  const prefer: Readonly<Record<string, string>> = preferStrict ? { prefer: 'handling=strict' } : {};

  function send(type: string, parameters: SearchParameters, { post = postsSearches, few = false }: SearchOptions) {
    const headers = { 'cache-control': few ? 'no-store' : 'no-cache', ...prefer };
    const profile = searchProfiles[type];
    const form = formOf(profile === undefined ? parameters : [...parameters, ['_profile', profile]]);
    if (!post) return query(type, { method: 'GET', url: `${base}/${type}${form === '' ? '' : `?${form}`}`, headers });
    return query(type, {
      method: 'POST',
      url: `${base}/${type}/_search`,
      body: form,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    });
  }

  async function firstPage(type: string, parameters: SearchParameters, options: SearchOptions): Promise<Bundle> {
    const bundle = await ask(type, parameters, { ...options, isForOne }, async (form) => {
      try {
        return checked(await send(type, form, options));
      } catch (error) {
        // A server that does not have the type at all can send the same.
        if (saysNothingMatches(error) && habits.statement?.knows(type)) return emptyBundle;
        throw error;
      }
    });
    // Otherwise a person whom the server knows, and does not send, would be created again.
    const isHidden = Number(bundle.total) > 0 && entriesOf(bundle).length === 0 && next(bundle) === undefined;
    if (!isHidden) return bundle;
    throw new ConnectorError('rejected', `The EHR counted matches of a search for ${type}, and sent none`);
  }

  const next = (bundle: Bundle) => nextPage(bundle, base, otherBases);

  /**
   * A server may respond to a search from a cache that is a minute old, unless it is asked for `no-cache`. With
   * `no-store` it does not write the result into its search tables either:
   * https://hapifhir.io/hapi-fhir/docs/server_jpa/performance.html. That is for few resources: HAPI cuts a longer result off, and
   * tells it neither by a link nor by `total`.
   */
  async function* pages(type: string, parameters: SearchParameters, options: SearchOptions = {}) {
    let bundle = await firstPage(type, parameters, options);
    const count = matchesIn(bundle, type).length;
    const mayMiss = count >= certainlyOnePage && count !== idsIn(parameters);
    if (options.few && mayMiss && next(bundle) === undefined) {
      bundle = await firstPage(type, parameters, { ...options, few: false });
    }
    for await (const page of withFurtherPages(type, bundle)) {
      const self = linksOf(page).find(({ relation }) => relation === 'self')?.url ?? '';
      for (const other of basesIn(page, type)) if (other !== base) habits.otherBases.add(other);
      const resources = matchesIn(page, type).filter((it) => hasId(it, receiver));
      const isWhole = resources.length === matchesIn(page, type).length && page.unreadable === undefined;
      if (options.strict && !isWhole) throw unreadable(type);
      if (!isWhole) options.leftOut?.();
      yield { resources, included: includedIn(page), sorted: /[?&]_sort=/.test(self) };
    }
  }

  async function* history(path: string, parameters: SearchParameters) {
    const url = `${base}/${path}?${formOf(parameters)}`;
    const first = checked(await query(path, { method: 'GET', url, headers: { 'cache-control': 'no-cache' } }));
    for await (const page of withFurtherPages(path, first)) yield entriesOf(page);
  }

  /** A page and those that follow it. The next one is fetched when it is needed. */
  async function* withFurtherPages(what: string, first: Bundle) {
    const headers = { 'cache-control': 'no-cache', ...prefer };
    const seen = new Set<string>();
    let bundle = first;
    for (let page = 0; page < mostPages; page++) {
      yield bundle;
      const url = next(bundle);
      if (url === undefined || seen.has(url)) return;
      seen.add(url);
      bundle = checked(await query(what, { method: 'GET', url, headers }));
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

/** For a search whose result depends on a match that cannot be used. */
export function unreadable(type: string): ConnectorError {
  return new ConnectorError('rejected', `The EHR sent a ${type} that cannot be read`);
}

/** How a server wants to be searched. */
export interface SearchForm {
  readonly preferStrict: boolean;
  /** Whether every search is a POST. Default: those that ask for it. */
  readonly postsSearches?: boolean;
  /** The `_profile` of searches, by type of resource. */
  readonly searchProfiles?: Readonly<Record<string, string>> | undefined;
}

export interface Searched extends SearchForm {
  readonly base: string;
  /** Other base URLs by which the server names itself. */
  readonly otherBases: readonly string[];
  readonly habits: Habits;
  readonly receiver: Receiver;
  readonly ask: Ask;
  /** Whether the searches are for one patient, whom a header names. */
  readonly isForOne?: boolean | undefined;
}

/** A record without an id cannot be asked for again, so it is left out. */
function hasId({ resourceType: type, id }: FhirResource, { leftOut }: Receiver): boolean {
  if (id === undefined) leftOut({ type, path: '/id' });
  return id !== undefined;
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
  throw new ConnectorError('rejected', 'The EHR responded to a search without a Bundle', { fault: true });
}

/**
 * The URL of the next page, always at the configured origin, so that the token is sent to no other host. A server
 * behind a proxy may use another base in its links: one with the same path, or one that the settings name.
 *
 * @param otherBases base URLs by which the server names itself
 */
function nextPage(bundle: Bundle, base: string, otherBases: readonly string[] = []): string | undefined {
  const link = linksOf(bundle).find(({ relation }) => relation === 'next')?.url;
  if (link === undefined) return undefined;
  const url = URL.parse(link, `${base}/`);
  if (!url) throw new ConnectorError('rejected', 'The EHR sent an invalid URL for the next page');
  const { origin, pathname } = new URL(base);
  if (url.origin === origin) return url.href;
  const known = otherBases.flatMap((it) => restAfter(url, it) ?? [])[0];
  if (known !== undefined) return `${base}${known}`;
  const rest = restAfter(url, `${url.origin}${pathname}`);
  if (rest !== undefined) return `${base}${rest}`;
  throw new ConnectorError(
    'rejected',
    'The EHR sent a URL of another server for the next page; if it is its own, add its base to own_base_urls',
  );
}

/** What follows a base in a URL. `undefined`: the URL is not under the base. */
function restAfter({ href }: URL, base: string): string | undefined {
  const start = new URL(base).href.replace(/\/+$/, '');
  const rest = href.slice(start.length);
  return href.startsWith(start) && /^([/?]|$)/.test(rest) ? rest : undefined;
}
