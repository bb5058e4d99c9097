import { ConnectorError, type EhrHttp, type EhrResponse } from '@crossward/connector-kit';
import type { Authorizer } from './auth/authorizer.ts';
import { createClock, type EhrClock } from './clock.ts';
import { type Bundle, type FhirResource, localReference, type Parameters } from './fhir.ts';
import { hasFailed, isOutcome, refusal } from './outcome.ts';

const mediaType = 'application/fhir+json';
const mostPages = 1000;

/** The response to a write. `resource` is `undefined` for an empty body. */
export interface WriteResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly body: unknown;
  readonly resource: FhirResource | undefined;
  /** `Appointment/17`, from the body or the `Location` header. */
  readonly reference: string | undefined;
  /** From the body or a weak `ETag`: https://hl7.org/fhir/R4/http.html#versioning */
  readonly version: string | undefined;
  /** From the `Expires` header, by the EHR's clock. */
  readonly expires: Date | undefined;
  readonly refusal: ConnectorError | undefined;
}

export interface SearchPage {
  readonly resources: readonly FhirResource[];
  /** What `_include` or `_revinclude` added. A server that does not know them adds nothing. */
  readonly included: readonly FhirResource[];
  /** Whether the `self` link shows that the server has sorted. */
  readonly sorted: boolean;
}

/** A name may repeat: a lower and an upper bound are two pairs. */
export type SearchParameters = readonly (readonly [name: string, value: string])[];

export interface FhirClient {
  readonly clock: EhrClock;
  /** `null`: not found, or deleted. Throws if the resource is of another type than the reference. */
  read<R extends FhirResource>(reference: string): Promise<R | null>;
  /** Fetches the next page only when it is needed. */
  pages(type: string, parameters: SearchParameters, options?: { post?: boolean }): AsyncGenerator<SearchPage>;
  /** Every match, each once. */
  search<R extends FhirResource>(
    type: string,
    parameters: SearchParameters,
    options?: { post?: boolean },
  ): Promise<R[]>;
  /** Resources by id, in any order. Missing ones are left out. */
  readMany<R extends FhirResource>(references: readonly string[]): Promise<R[]>;
  create(resource: FhirResource, options?: { ifNoneExist?: string }): Promise<WriteResponse>;
  /** `repeatable`: the caller knows that a 412 may be the result of its own first attempt. */
  update(
    resource: FhirResource,
    options: { ifMatch: string | undefined; repeatable?: boolean },
  ): Promise<WriteResponse>;
  /** JSON Patch: https://hl7.org/fhir/R4/http.html#patch */
  patch(reference: string, patch: readonly object[], options: { ifMatch: string | undefined }): Promise<WriteResponse>;
  remove(reference: string): Promise<WriteResponse>;
  /** Adds a `fullUrl` to each update, which servers that validate require. */
  transaction(bundle: Bundle): Promise<WriteResponse>;
  /** `Appointment/$book` */
  operation(path: string, parameters: Parameters): Promise<WriteResponse>;
  /** Calls an operation that changes nothing, by GET: `Appointment/$find`. */
  ask(path: string, parameters: SearchParameters): Promise<FhirResource>;
}

export interface ClientOptions {
  readonly baseUrl: string;
  /** The base URL of operations. Default: `baseUrl`. */
  readonly operationsUrl?: string | undefined;
  readonly http: EhrHttp;
  readonly authorizer: Authorizer;
  readonly preferStrict: boolean;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly repeatable: boolean;
}

export function createFhirClient(options: ClientOptions): FhirClient {
  const { baseUrl, operationsUrl = baseUrl, http, authorizer, preferStrict } = options;
  const [base, operations] = [baseUrl, operationsUrl].map((url) => url.replace(/\/+$/, '')) as [string, string];
  const clock = createClock();
  let refusesSorting = false;

  async function send(call: Call): Promise<EhrResponse> {
    const request = async (authorization: Readonly<Record<string, string>>) => {
      const headers = { accept: mediaType, ...call.headers, ...authorization };
      const { method, url, body, repeatable } = call;
      const sentAt = Date.now();
      const response = await http.send({ method, url, headers, repeatable, ...(body === undefined ? {} : { body }) });
      clock.observe(response, sentAt, Date.now());
      return response;
    };
    const authorization = await authorizer.headers();
    const response = await request(authorization);
    if (response.status !== 401 || !authorizer.renew) return response;
    // A token may be revoked early. The server did nothing, so it is safe to send the request again.
    await authorizer.renew(authorization);
    return request(await authorizer.headers());
  }

  async function query(what: string, call: Omit<Call, 'repeatable'>): Promise<FhirResource> {
    const response = await send({ ...call, repeatable: true });
    const body = parse(response.text);
    if (response.status >= 300 || (isOutcome(body) && hasFailed(body))) throw refusal(response, body, what);
    if (!isResource(body))
      throw new ConnectorError('rejected', `The EHR responded with ${response.status} without a FHIR resource`);
    return body;
  }

  async function write(call: Omit<Call, 'headers'> & { headers?: Record<string, string> }): Promise<WriteResponse> {
    const headers = { 'content-type': mediaType, prefer: 'return=representation', ...call.headers };
    return writeResponse(await send({ ...call, headers }));
  }

  /**
   * Always at the configured origin, so that the token goes nowhere else. A server behind a proxy may use another origin
   * in its links.
   */
  function nextPage(bundle: Bundle): string | undefined {
    const link = bundle.link?.find(({ relation }) => relation === 'next')?.url;
    if (link === undefined) return undefined;
    const url = URL.parse(link, `${base}/`);
    if (!url) throw new ConnectorError('rejected', 'The EHR sent an invalid URL for the next page');
    const { origin, pathname } = new URL(base);
    if (url.origin === origin) return url.href;
    const isFhir = url.pathname === pathname || url.pathname.startsWith(`${pathname.replace(/\/$/, '')}/`);
    if (isFhir) return `${origin}${url.pathname}${url.search}`;
    throw new ConnectorError('rejected', 'The EHR sent a URL of another server for the next page');
  }

  async function* pages(
    type: string,
    parameters: SearchParameters,
    { post = false }: { post?: boolean } = {},
  ): AsyncGenerator<SearchPage> {
    // A server may respond to a search from a cache that is a minute old:
    // https://hapifhir.io/hapi-fhir/docs/server_jpa/performance.html
    const headers = { 'cache-control': 'no-cache', ...(preferStrict ? { prefer: 'handling=strict' } : {}) };
    const firstPage = (asked: SearchParameters) => {
      const form = new URLSearchParams([...asked] as [string, string][]).toString();
      if (!post) return query(type, { method: 'GET', url: `${base}/${type}${form === '' ? '' : `?${form}`}`, headers });
      const contentType = { 'content-type': 'application/x-www-form-urlencoded' };
      return query(type, {
        method: 'POST',
        url: `${base}/${type}/_search`,
        body: form,
        headers: { ...headers, ...contentType },
      });
    };
    const ordered = refusesSorting ? parameters : inOneOrder(parameters);
    let bundle = await firstPage(ordered).catch(async (error: unknown) => {
      if (ordered === parameters || !isRefusal(error)) throw error;
      const unordered = await firstPage(parameters);
      refusesSorting = true;
      return unordered;
    });
    const seen = new Set<string>();
    for (let page = 0; page < mostPages; page++) {
      if (!isBundle(bundle)) throw new ConnectorError('rejected', 'The EHR responded to a search without a Bundle');
      const self = bundle.link?.find(({ relation }) => relation === 'self')?.url ?? '';
      yield { resources: matches(bundle, type), included: included(bundle), sorted: /[?&]_sort=/.test(self) };
      const next = nextPage(bundle);
      if (next === undefined || seen.has(next)) return;
      seen.add(next);
      bundle = await query(type, { method: 'GET', url: next, headers });
    }
    throw new ConnectorError('rejected', `The EHR sent more than ${mostPages} pages`);
  }

  async function search<R extends FhirResource>(
    type: string,
    parameters: SearchParameters,
    options?: { post?: boolean },
  ): Promise<R[]> {
    const found = new Map<string, R>();
    for await (const { resources } of pages(type, parameters, options)) {
      for (const resource of resources) found.set(resource.id ?? '', resource as R);
    }
    return [...found.values()];
  }

  async function read<R extends FhirResource>(reference: string): Promise<R | null> {
    const call = { method: 'GET', url: `${base}/${reference}`, repeatable: true } as const;
    const response = await send({ ...call, headers: { 'cache-control': 'no-cache' } });
    if (response.status === 404 || response.status === 410) return null;
    const body = parse(response.text);
    if (response.status >= 300 || isOutcome(body) || !isResource(body)) throw refusal(response, body);
    const [type, id] = reference.split('/');
    if (id !== undefined && body.resourceType !== type) {
      throw new ConnectorError('rejected', `The EHR sent another type of resource than ${type}`);
    }
    return body as R;
  }

  async function readMany<R extends FhirResource>(references: readonly string[]): Promise<R[]> {
    const byType = Map.groupBy(new Set(references), (reference) => reference.slice(0, reference.indexOf('/')));
    const reads = [...byType].flatMap(([type, ofType]) => {
      if (ofType.length === 1) return ofType.map(async (reference) => [await read<R>(reference)]);
      const ids = ofType.map((reference) => reference.slice(type.length + 1));
      return chunks(ids, 50).map((chunk) =>
        search<R>(type, [
          ['_id', chunk.join(',')],
          ['_count', String(chunk.length)],
        ]),
      );
    });
    return (await Promise.all(reads)).flat().filter((it) => it !== null);
  }

  return {
    clock,
    read,
    pages,
    search,
    readMany,
    create: (resource, { ifNoneExist } = {}) =>
      write({
        method: 'POST',
        url: `${base}/${resource.resourceType}`,
        body: JSON.stringify(resource),
        headers: ifNoneExist === undefined ? {} : { 'if-none-exist': ifNoneExist },
        repeatable: false,
      }),
    update: (resource, { ifMatch, repeatable = false }) =>
      write({
        method: 'PUT',
        url: `${base}/${resource.resourceType}/${resource.id}`,
        body: JSON.stringify(resource),
        headers: ifMatchHeader(ifMatch),
        repeatable: repeatable && ifMatch !== undefined,
      }),
    patch: (reference, patch, { ifMatch }) =>
      write({
        method: 'PATCH',
        url: `${base}/${reference}`,
        body: JSON.stringify(patch),
        headers: { ...ifMatchHeader(ifMatch), 'content-type': 'application/json-patch+json' },
        repeatable: false,
      }),
    remove: (reference) => write({ method: 'DELETE', url: `${base}/${reference}`, repeatable: true }),
    transaction: (bundle) =>
      write({ method: 'POST', url: base, body: JSON.stringify(withFullUrls(bundle, base)), repeatable: false }),
    operation: (path, parameters) =>
      write({ method: 'POST', url: `${operations}/${path}`, body: JSON.stringify(parameters), repeatable: false }),
    ask: (path, parameters) =>
      query(path, {
        method: 'GET',
        url: `${operations}/${path}?${new URLSearchParams([...parameters] as [string, string][])}`,
        headers: { 'cache-control': 'no-cache' },
      }),
  };
}

export function weakTag(version: string): string {
  return `W/"${version}"`;
}

/** The version in an `ETag`, weak or not. */
export function versionIn(tag: string | undefined): string | undefined {
  return /"([^"]+)"/.exec(tag ?? '')?.[1];
}

export function isBundle(body: unknown): body is Bundle {
  return isResource(body) && body.resourceType === 'Bundle';
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
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

/** Whether the EHR refused the request itself. Otherwise it may be down. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'rejected' || error.kind === 'unsupported');
}

function ifMatchHeader(version: string | undefined): Record<string, string> {
  return version === undefined ? {} : { 'if-match': weakTag(version) };
}

/** https://hl7.org/fhir/R4/bundle.html#references: a relative reference is resolved against the entry's `fullUrl`. */
function withFullUrls(bundle: Bundle, base: string): Bundle {
  const entry = (bundle.entry ?? []).map((it) =>
    it.request?.method === 'PUT' ? { fullUrl: `${base}/${it.request.url}`, ...it } : it,
  );
  return { ...bundle, entry };
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

function writeResponse(response: EhrResponse): WriteResponse {
  const { status, headers } = response;
  const body = parse(response.text);
  // Medplum responds with 304 to a PUT that changes nothing.
  const ok = status === 304 || (status < 300 && !(isOutcome(body) && hasFailed(body)));
  const resource = isResource(body) && !isOutcome(body) ? body : undefined;
  const location = localReference({ reference: headers.location ?? headers['content-location'] ?? '' });
  return {
    status,
    ok,
    body,
    resource,
    reference: resource?.id ? `${resource.resourceType}/${resource.id}` : location,
    version: resource?.meta?.versionId ?? versionIn(headers.etag),
    expires: dateOf(headers.expires),
    refusal: ok ? undefined : refusal(response, body),
  };
}

/** The date in a header. `undefined` for "0" and the like. */
function dateOf(value: string | undefined): Date | undefined {
  const moment = new Date(value !== undefined && value.length > 10 ? value : '');
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

function isResource(body: unknown): body is FhirResource {
  return typeof body === 'object' && body !== null && 'resourceType' in body && typeof body.resourceType === 'string';
}

/** `undefined` for a body that is not JSON, such as a proxy's page. */
function parse(body: string): unknown {
  if (body.trim() === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
