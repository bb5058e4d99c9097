import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { BundleEntry, FhirAppointment, FhirBinary, FhirResource, Parameters, Reference } from '../src/fhir.ts';
import { slotsOf } from '../src/mappers/appointment.ts';
import { type InitialData, loadDataSet } from './data-set.ts';
import { contentTypeOf, otherPath, type Reply, type ServerHabits, withHabits } from './habits.ts';
import { listen, type RunningServer, searchForm, send } from './http-server.ts';
import { createMedplumScheduling } from './medplum-scheduling.ts';
import { createOperations, type OperationFormName } from './operations.ts';
import {
  assertNames,
  changedBy,
  nameActorsThemselves,
  namesPatient,
  type OwnRules,
  patientNamed,
  slotsByService,
  withoutVersions,
} from './own-rules.ts';
import { checkedCreate, checkedUpdate } from './scheduling.ts';
import { Rejected, Store, type Stored, type Version } from './store.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** How the server behaves where R4 servers differ. */
export interface FakeOptions {
  readonly transactions?: 'atomic' | 'as_batch' | 'without_rollback' | 'none';
  /** A transaction with more entries than this is rejected as a whole. */
  readonly transactionSize?: number;
  /**
   * Rejects each transaction with a conditional create, like a serializable database during concurrent transactions.
   */
  readonly conditionalTransactions?: 'conflict';
  /** Whether it rejects Bundle entries without `fullUrl`, and empty lists. */
  readonly validates?: boolean;
  /** Whether clients can write resources other than Appointments, such as Slots. */
  readonly plainWrites?: boolean;
  /** Whether it checks that the slots of an Appointment are free, marks them as busy, and frees them on cancellation. */
  readonly checksAppointments?: boolean;
  /** Whether an appointment can have one slot only. */
  readonly oneSlot?: boolean;
  /** Whether Appointments can be changed only with JSON Patch. */
  readonly patchOnly?: boolean;
  /** Which form of `$find`, `$hold` and `$book` it supports. */
  readonly operations?: OperationFormName;
  /** Whether Appointments can be written only with operations. Then Patients cannot be created. */
  readonly operationsOnly?: boolean;
  /** How long the server keeps a hold. */
  readonly holdMilliseconds?: number;
  readonly pageSize?: number;
  readonly rejectsChaining?: boolean;
  /** Whether a search can be sorted by `_id`. */
  readonly sortsById?: boolean;
  /** Whether resources with equal sort keys change their order from page to page, as in a database. */
  readonly shufflesPages?: boolean;
  /**
   * Whether it repeats its response to a search unless the request forbids that, as HAPI does for a minute. With
   * `no-store` it sends one page, without a link to the next, and counts what `_include` adds towards `_count`.
   */
  readonly cachesSearches?: boolean;
  readonly requiresServiceType?: boolean;
  /** Whether it takes a list of identifiers for one, and so finds nothing. */
  readonly takesIdentifierListsForOne?: boolean;
  /** Whether its CapabilityStatement says that it supports `Appointment?slot=`. */
  readonly searchesBySlot?: boolean;
  /** `rejected`: it does not support `Appointment?slot=`. */
  readonly slotSearch?: 'rejected';
  /** Whether its CapabilityStatement says that it supports `Patient?link=`. */
  readonly searchesPatientLinks?: boolean;
  /** Whether it supports `_include=Appointment:slot`. */
  readonly includesSlots?: boolean;
  /** Whether it supports `_revinclude=Appointment:slot`. */
  readonly revIncludesAppointments?: boolean;
  /** Whether the locations in the response to a transaction are absolute URLs. */
  readonly absoluteLocations?: boolean;
  /** Whether it drops the identifiers that a client gives an Appointment or DocumentReference. */
  readonly dropsIdentifiers?: boolean;
  /** Whether the response to a write has no body, only `Location` and a weak `ETag`. */
  readonly emptyBodies?: boolean;
  readonly lostClaimStatus?: 412 | 409 | 400;
  readonly heedsIfMatch?: boolean;
  readonly heedsIfNoneExist?: boolean;
  /** How far its clock is ahead of the gateway's. */
  readonly clockAheadMilliseconds?: number;
  /** Whether it stores times as whole seconds. */
  readonly wholeSeconds?: boolean;
  /** The `Authorization` that it requires. */
  readonly authorization?: () => string;
  /** Whether it accepts client-assigned ids: a PUT creates the resource if there is none. */
  readonly takesIds?: boolean;
  /** Whether it has the versions of Appointments, also of deleted ones: `_history`. Default: true. */
  readonly history?: boolean;
  /**
   * Whether it has no history of all Appointments, and searches for deleted ones by `_deleted`, as Medplum does. `ignored`: it
   * knows neither, and ignores the parameter.
   */
  readonly deletedSearch?: 'known' | 'ignored';
  /** Whether it says when an Appointment was deleted. HAPI does not. Default: true. */
  readonly datesDeletions?: boolean;
  /** Whether it has DocumentReferences and Binaries. Default: true. */
  readonly documents?: boolean;
  /** Whether it sends a new Binary back, although the client prefers `return=minimal`. */
  readonly returnsBinaries?: boolean;
  /** Whether it sends a Binary as a resource in JSON, whatever the client accepts. */
  readonly jsonBinaries?: boolean;
  /**
   * Whether it sends signed URLs of its storage instead of references to Binaries, understands them in what it is sent, and
   * sends a Binary in JSON without its data, as Medplum does.
   */
  readonly signedUrls?: boolean;
  /** Rules that are its own. Its staff need not follow them, nor its habits. */
  readonly rules?: OwnRules;
  /** What it does as some published servers do. */
  readonly habits?: ServerHabits;
  readonly data?: InitialData;
  /** Default: a free port. */
  readonly port?: number;
}

/** The fault that a request gets. */
export type Fault =
  /** The connection is cut and nothing is done. */
  | 'cut_before'
  /** The connection is cut, and the request is executed a moment later. */
  | 'cut_during'
  /** The request is executed, then the connection is cut. */
  | 'cut_after'
  | { readonly delayMilliseconds: number }
  /** The request is executed once the promise has resolved. With `isCut`, the connection is cut at once. */
  | { readonly heldBackUntil: Promise<void>; readonly isCut?: boolean }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: object };

export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FakeServer extends RunningServer {
  readonly store: Store;
  /** Called for every request. `undefined`: nothing goes wrong. */
  misbehave: (request: SeenRequest) => Fault | undefined;
  readonly seen: SeenRequest[];
  /** Waits until every request with the fault `cut_during` has been executed. */
  atRest(): Promise<void>;
}

/** A small FHIR server that can simulate faults. */
export async function startFake(options: FakeOptions = {}): Promise<FakeServer> {
  const { lostClaimStatus = 412, heedsIfMatch = true, wholeSeconds = false, clockAheadMilliseconds = 0 } = options;
  const store = new Store({ lostClaimStatus, heedsIfMatch, wholeSeconds });
  await loadDataSet((resource) => store.save(resource), options.data);
  if (options.rules) nameActorsThemselves(store);
  const seen: SeenRequest[] = [];
  let unfinished = 0;
  const handle = requestHandler(store, options);
  const server = await listen(async (request, response, text, bytes) => {
    const body = isContent(request) ? binaryOf(request, bytes) : text;
    const path = (request.url ?? '/').replace(otherPath, '');
    const url = new URL(path, `http://${request.headers.host}`);
    response.setHeader('date', new Date(Date.now() + clockAheadMilliseconds).toUTCString());
    const facts = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.search,
      headers: request.headers,
      body,
    };
    seen.push(facts);
    const fault = fake.misbehave(facts);
    if (fault === 'cut_before') {
      request.socket.destroy();
      return;
    }
    if (fault === 'cut_during') {
      request.socket.destroy();
      unfinished += 1;
      await pause(150);
    }
    if (typeof fault === 'object' && 'status' in fault) {
      send(response, fault.status, fault.body, fault.headers);
      return;
    }
    if (typeof fault === 'object' && 'heldBackUntil' in fault) {
      if (fault.isCut) request.socket.destroy();
      await fault.heldBackUntil;
    } else if (typeof fault === 'object') await pause(fault.delayMilliseconds);
    const cut = fault === 'cut_after' || fault === 'cut_during';
    const { habits = {} } = options.rules && request.headers['x-staff'] === 'yes' ? {} : options;
    const { method, headers: given } = request;
    const asks = { method: method ?? '', headers: given, path: url.pathname, form: searchForm(url, request, text) };
    const { status, resource, headers } = options.signedUrls
      ? withSignedUrls(url.origin, (references) => handle(request, url, references), body)
      : withHabits(habits, asks, () => {
          const answer = handle(request, url, body);
          return options.rules?.hidesVersions ? withoutVersions(answer) : answer;
        });
    if (fault === 'cut_during') unfinished -= 1;
    if (cut) request.socket.destroy();
    else if (header(request, 'prefer') === 'return=minimal' && !options.returnsBinaries)
      send(response, status, undefined, headers);
    else if (isBinary(resource) && !options.jsonBinaries && !acceptsFhir(request)) sendContent(response, resource);
    else if (isBinary(resource) && options.signedUrls) send(response, status, withoutData(resource), headers);
    else
      send(response, status, resource, { ...headers, ...contentTypeOf(habits) }, habits.byteOrderMark ? '\uFEFF' : '');
  }, options.port);
  const fake: FakeServer = {
    ...server,
    store,
    seen,
    misbehave: () => undefined,
    async atRest() {
      while (unfinished > 0) await pause(5);
    },
  };
  return fake;
}

/** Whether the body is the content of a Binary, and not a resource: https://hl7.org/fhir/R4/binary.html#rest */
function isContent({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' && url === '/Binary' && headers['content-type']?.startsWith('application/fhir+json') !== true
  );
}

function binaryOf({ headers }: IncomingMessage, bytes: Buffer): string {
  return JSON.stringify({
    resourceType: 'Binary',
    contentType: headers['content-type'],
    data: bytes.toString('base64'),
  });
}

function withSignedUrls(origin: string, handle: (body: string) => Reply, body: string): Reply {
  const storage = `${origin}/storage/`;
  const references = body.replaceAll(new RegExp(`"${storage}([^/"]+)[^"]*"`, 'g'), '"Binary/$1"');
  const { resource, ...rest } = handle(references);
  if (isBinary(resource)) return { ...rest, resource };
  const signed = JSON.stringify(resource ?? null).replaceAll(
    /"url":"Binary\/([^/"]+)"/g,
    `"url":"${storage}$1/1?Expires=${Date.now()}&Signature=x"`,
  );
  return { ...rest, resource: JSON.parse(signed) ?? undefined };
}

function isBinary(resource: object | undefined): resource is FhirBinary {
  return resource !== undefined && 'resourceType' in resource && resource.resourceType === 'Binary';
}

function withoutData({ data: _, ...rest }: FhirBinary): object {
  return rest;
}

function acceptsFhir({ method, headers }: IncomingMessage): boolean {
  return method !== 'GET' || headers.accept?.startsWith('application/fhir+json') === true;
}

function sendContent(response: ServerResponse, { contentType, data }: FhirBinary): void {
  const bytes = Buffer.from(data ?? '', 'base64');
  const type = contentType ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type, 'content-length': bytes.length });
  response.end(bytes);
}

function reply(status: number, resource?: object, headers?: Readonly<Record<string, string>>): Reply {
  return { status, resource, headers };
}

function requestHandler(store: Store, options: FakeOptions) {
  const { operations: form, clockAheadMilliseconds = 0, holdMilliseconds = dayMilliseconds } = options;
  const medplum = form === 'medplum' ? createMedplumScheduling(store) : undefined;
  const now = () => Date.now() + clockAheadMilliseconds;
  const operations =
    form === undefined || form === 'medplum' ? undefined : createOperations(store, form, { holdMilliseconds, now });

  const searches = new Map<string, object>();
  return (request: IncomingMessage, url: URL, body: string): Reply => {
    try {
      if (options.authorization && request.headers.authorization !== options.authorization()) {
        throw new Rejected(401, 'login');
      }
      operations?.endExpiredHolds();
      return route(request, url, body);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      return reply(error.status, outcome(error.code));
    }
  };

  function route(request: IncomingMessage, url: URL, body: string): Reply {
    const [type = '', id, name] = url.pathname.slice(1).split('/');
    const resource = () => JSON.parse(body) as FhirResource;
    const { method } = request;
    const isFhir = request.headers['content-type']?.startsWith('application/fhir+json') === true;
    if (options.validates && isFhir && body !== '') validate(resource());
    // The EHR's staff may change Slots and Appointments even where clients may not.
    const isStaff = request.headers['x-staff'] === 'yes';
    if (type === 'metadata') return reply(200, capabilityStatement(options, isStaff));
    const patient = isStaff ? undefined : patientNamed(store, options.rules, type, request.headers);
    const showsResources = header(request, 'prefer') === 'return=representation' && !options.emptyBodies;
    if (type === '') return transaction(resource(), showsResources);
    if (id === '$find' && method === 'GET' && medplum) return medplum.find(url.searchParams);
    if (id?.startsWith('$')) return operation(id, undefined, resource() as Parameters);
    if (name?.startsWith('$')) return operation(name, id, resource() as Parameters);
    if (method === 'GET' && id === '_history' && options.deletedSearch === undefined)
      return reply(200, history(url, store.history()));
    if (method === 'GET' && name === '_history') return reply(200, history(url, store.history(`${type}/${id}`)));
    if (method === 'GET' && id !== undefined && id !== '_search') return reply(200, store.get(`${type}/${id}`));
    if (method === 'GET' || id === '_search') {
      const cacheControl = header(request, 'cache-control') ?? '';
      const isFresh = !options.cachesSearches || ['no-cache', 'no-store'].includes(cacheControl);
      return reply(
        200,
        cached(`${type} ${url.search} ${body}`, isFresh, () =>
          search(
            type,
            url,
            searchForm(url, request, body),
            options.cachesSearches === true && cacheControl === 'no-store',
            patient,
          ),
        ),
      );
    }
    if (method === 'DELETE') {
      store.remove(`${type}/${id}`);
      return reply(204);
    }
    const ifMatch = header(request, 'if-match');
    if (patient !== undefined) assertNames(patient, id === undefined ? resource() : store.get(`${type}/${id}`));
    if (isStaff && type === 'Slot') return reply(200, store.update(`${type}/${id}`, resource(), ifMatch));
    const isAboutDocuments = type === 'DocumentReference' || type === 'Binary';
    if (options.operationsOnly && !isStaff && !isAboutDocuments) throw new Rejected(405, 'not-supported');
    if (method === 'PATCH') {
      if (ifMatch === undefined) throw new Rejected(412, 'required');
      return written(
        200,
        write('PUT', `${type}/${id}`, patched(store.get(`${type}/${id}`), body), { ifMatch, isStaff }),
      );
    }
    if (method === 'PUT') return written(200, write('PUT', `${type}/${id}`, resource(), { ifMatch, isStaff }));
    const ifNoneExist = header(request, 'if-none-exist');
    const done = write('POST', type, resource(), { ifNoneExist, isStaff });
    return written(done.status, done);
  }

  function write(
    method: 'POST' | 'PUT',
    target: string,
    given: FhirResource,
    {
      ifMatch,
      ifNoneExist,
      isStaff = false,
    }: { ifMatch?: string | undefined; ifNoneExist?: string | undefined; isStaff?: boolean },
  ): { readonly status: number; readonly stored: Stored } {
    const isAppointment = given.resourceType === 'Appointment';
    if (given.resourceType === 'DocumentReference' && options.documents === false)
      throw new Rejected(405, 'not-supported');
    const drops = options.dropsIdentifiers && (isAppointment || given.resourceType === 'DocumentReference');
    const resource = drops ? withoutIdentifier(given) : given;
    if (options.checksAppointments && isAppointment) {
      const { rules } = options;
      const before = method === 'PUT' ? store.get(target) : undefined;
      const ruled = rules && !isStaff ? changedBy(store, rules, before, resource as FhirAppointment) : undefined;
      const appointment = ruled ?? (resource as FhirAppointment);
      const stored = store.atomically(() =>
        method === 'PUT'
          ? checkedUpdate(store, target, appointment, ifMatch)
          : checkedCreate(store, appointment, { ...options, bookedStatus: ruled?.status }),
      );
      return { status: method === 'PUT' ? 200 : 201, stored };
    }
    const isRegistered = given.resourceType === 'Patient' && !options.operationsOnly;
    if (options.plainWrites === false && !isAppointment && !isRegistered && !isDocument(given))
      throw new Rejected(405, 'not-supported');
    if (method === 'PUT' && options.takesIds && !store.has(target))
      return { status: 201, stored: store.save(resource) };
    if (method === 'PUT') return { status: 200, stored: store.update(target, resource, ifMatch) };
    const { stored, isNew } = store.create(resource, options.heedsIfNoneExist === false ? undefined : ifNoneExist);
    return { status: isNew ? 201 : 200, stored };
  }

  function written(status: number, { stored }: { readonly stored: Stored }): Reply {
    const headers = { location: addressOf(stored), etag: `W/"${stored.meta?.versionId}"` };
    return reply(status, options.emptyBodies ? undefined : stored, headers);
  }

  function cached(key: string, isFresh: boolean, run: () => object): object {
    const bundle = (isFresh ? undefined : searches.get(key)) ?? run();
    searches.set(key, bundle);
    return bundle;
  }

  function search(type: string, url: URL, form: URLSearchParams, isOnePage: boolean, patient?: string): object {
    const byService = type === 'Slot' && options.rules !== undefined && form.has(options.rules.slots.service);
    if (options.requiresServiceType && type === 'Slot' && !form.has('service-type') && !form.has('_id')) {
      throw new Rejected(400, 'required');
    }
    if (options.rejectsChaining && form.has('schedule.actor')) throw new Rejected(400, 'not-supported');
    if (options.slotSearch === 'rejected' && type === 'Appointment' && form.has('slot'))
      throw new Rejected(400, 'not-supported');
    const isTakenForOne = options.takesIdentifierListsForOne && form.get('identifier')?.includes(',') === true;
    const sortsById = form.get('_sort')?.split(',').includes('_id') === true;
    if (sortsById && options.sortsById === false) throw new Rejected(400, 'not-supported');
    const size = Math.min(Number(form.get('_count') ?? 20), options.pageSize ?? 1000);
    const offset = Number(form.get('_offset') ?? 0);
    const isOddPage = (offset / size) % 2 === 1;
    const isForDeleted = form.get('_deleted') === 'true';
    if (isForDeleted && options.deletedSearch === undefined) throw new Rejected(400, 'invalid');
    const found = byService
      ? slotsByService(store, options.rules, form)
      : isForDeleted && options.deletedSearch === 'known'
        ? deleted(store, form)
        : isTakenForOne
          ? []
          : store
              .search(type, form, { backwards: options.shufflesPages === true && isOddPage })
              .filter((it) => type !== 'Appointment' || patient === undefined || namesPatient(it, patient));
    const next = new URLSearchParams([...form].filter(([name]) => name !== '_offset'));
    next.set('_offset', String(offset + size));
    const hasMore = offset + size < found.length && !isOnePage;
    const page = found.slice(offset, offset + size);
    const includes = form.get('_include') === 'Appointment:slot' && options.includesSlots !== false;
    const slots = includes ? page.flatMap((it) => slotsOf(it as FhirAppointment)) : [];
    const schedules =
      byService && form.get('_include') === 'Slot:schedule'
        ? page.map(({ schedule }) => (schedule as Reference).reference ?? '')
        : [];
    const room = isOnePage ? size - page.length : slots.length + schedules.length;
    const included = [...new Set([...slots, ...schedules])]
      .flatMap((it) => (store.has(it) ? store.get(it) : []))
      .slice(0, room);
    return {
      resourceType: 'Bundle',
      type: 'searchset',
      total: found.length,
      link: [
        { relation: 'self', url: `${url.origin}/${type}?${form}` },
        ...(hasMore ? [{ relation: 'next', url: `${url.origin}/${type}?${next}` }] : []),
      ],
      entry: [
        ...page.map((resource) => ({ resource, search: { mode: 'match' } })),
        ...[...included, ...appointmentsOf(page, form)].map((resource) => ({ resource, search: { mode: 'include' } })),
      ],
    };
  }

  /** https://hl7.org/fhir/R4/http.html#history */
  function history(url: URL, all: readonly Version[]): object {
    if (options.history === false) throw new Rejected(405, 'not-supported');
    const parameters = url.searchParams;
    const since = Date.parse(parameters.get('_since') ?? '1970-01-01');
    const found = all.filter(({ lastUpdated }) => Date.parse(lastUpdated) >= since);
    const size = Math.min(Number(parameters.get('_count') ?? 20), options.pageSize ?? 1000);
    const offset = Number(parameters.get('_offset') ?? 0);
    const next = new URL(url);
    next.searchParams.set('_offset', String(offset + size));
    return {
      resourceType: 'Bundle',
      type: 'history',
      link: offset + size < found.length ? [{ relation: 'next', url: next.href }] : [],
      entry: found
        .slice(offset, offset + size)
        .map((it) =>
          options.deletedSearch === 'known' ? goneEntry(it) : historyEntry(it, options.datesDeletions !== false),
        ),
    };
  }

  function appointmentsOf(slots: readonly Stored[], form: URLSearchParams): readonly Stored[] {
    if (form.get('_revinclude') !== 'Appointment:slot' || options.revIncludesAppointments === false) return [];
    const references = new Set(slots.map(({ id }) => `Slot/${id}`));
    return store
      .all('Appointment')
      .filter((it) => (it as FhirAppointment).slot?.some(({ reference }) => references.has(reference ?? '')));
  }

  function transaction(bundle: FhirResource, showsResources: boolean): Reply {
    const kind = options.transactions ?? 'atomic';
    if (kind === 'none') throw new Rejected(405, 'not-supported');
    const entries = (bundle as { entry?: BundleEntry[] }).entry ?? [];
    if (entries.length > (options.transactionSize ?? entries.length)) throw new Rejected(400, 'invalid');
    const isConditional = entries.some(({ request }) => request?.ifNoneExist !== undefined);
    if (isConditional && options.conditionalTransactions === 'conflict') throw new Rejected(409, 'conflict');
    const run = ({ resource, request }: BundleEntry) => {
      if (!resource || (request?.method !== 'PUT' && request?.method !== 'POST')) throw new Rejected(400, 'invalid');
      const { ifMatch, ifNoneExist } = request;
      const { status, stored } = write(request.method, request.url, resource, { ifMatch, ifNoneExist });
      const location = options.absoluteLocations ? addressOf(stored) : versionedReference(stored);
      const response = { status: `${status}`, location, etag: `W/"${stored.meta?.versionId}"` };
      return { ...(showsResources ? { resource: stored } : {}), response };
    };
    const each = (entry: BundleEntry) => {
      try {
        return run(entry);
      } catch (error) {
        if (!(error instanceof Rejected)) throw error;
        return { response: { status: `${error.status}`, outcome: outcome(error.code) } };
      }
    };
    const results =
      kind === 'atomic'
        ? store.atomically(() => entries.map(run))
        : kind === 'as_batch'
          ? entries.map(each)
          : entries.map(run);
    return reply(200, { resourceType: 'Bundle', type: 'transaction-response', entry: results });
  }

  function operation(name: string, id: string | undefined, parameters: Parameters): Reply {
    if (medplum) return medplum.run(name, id, parameters);
    if (!operations) throw new Rejected(404, 'not-supported');
    return operations.run(name, parameters);
  }
}

function patientSupport({ searchesPatientLinks, operationsOnly }: FakeOptions): object {
  const named = ['family', 'name', 'birthdate', 'phone'].map((name) => ({ name }));
  return {
    ...(operationsOnly
      ? {}
      : { interaction: ['read', 'search-type', 'create'].map((code) => ({ code })), conditionalCreate: true }),
    searchParam: [...(searchesPatientLinks ? [{ name: 'link' }] : []), ...named],
  };
}

/** https://hl7.org/fhir/R4/bundle.html#bdl-7, https://hl7.org/fhir/R4/json.html#2.6.2 */
function validate(resource: FhirResource): void {
  const { entry = [] } = resource as { entry?: BundleEntry[] };
  if (entry.some(({ fullUrl }) => fullUrl === undefined)) throw new Rejected(422, 'processing');
  JSON.stringify(resource, (_, value) => {
    if (Array.isArray(value) && value.length === 0) throw new Rejected(422, 'processing');
    return value;
  });
}

function isDocument({ resourceType }: FhirResource): boolean {
  return resourceType === 'DocumentReference' || resourceType === 'Binary';
}

function withoutIdentifier(resource: FhirResource): FhirResource {
  const { identifier: _, ...rest } = resource as FhirAppointment;
  return rest;
}

function historyEntry({ reference, versionId, lastUpdated, resource }: Version, isDated: boolean): object {
  const response = { etag: `W/"${versionId}"`, ...(isDated ? { lastModified: lastUpdated } : {}) };
  if (resource)
    return { resource, request: { method: 'PUT', url: reference }, response: { status: '200', ...response } };
  const url = `${reference}/_history/${versionId}`;
  return { request: { method: 'DELETE', url }, response: { status: '204', ...response } };
}

/** In the history of one Appointment, Medplum says 410 for a deletion. */
function goneEntry({ reference, versionId, resource }: Version): object {
  const request = { method: 'GET', url: `${reference}/_history/${versionId}` };
  return resource ? { resource, request, response: { status: '200' } } : { request, response: { status: '410' } };
}

/** Deleted Appointments as Medplum sends them: without anything that they were. */
function deleted(store: Store, form: URLSearchParams): Stored[] {
  const since = Date.parse(form.get('_lastUpdated')?.slice('ge'.length) ?? '1970-01-01');
  return store.history().flatMap(({ reference, lastUpdated, resource }) => {
    const [resourceType = '', id = ''] = reference.split('/');
    if (resource || store.has(reference) || Date.parse(lastUpdated) < since) return [];
    return [{ resourceType, id, meta: { lastUpdated } } as unknown as Stored];
  });
}

function versionedReference({ resourceType, id, meta }: Stored): string {
  return `${resourceType}/${id}/_history/${meta?.versionId}`;
}

function addressOf(stored: Stored): string {
  return `http://ehr.example/fhir/${versionedReference(stored)}`;
}

function patched(resource: Stored, body: string): FhirResource {
  const copy: Record<string, unknown> = { ...resource };
  for (const { op, path, value } of JSON.parse(body) as { op: string; path: string; value?: unknown }[]) {
    const name = path.slice(1);
    if (op === 'remove') delete copy[name];
    else copy[name] = value;
  }
  return copy as unknown as FhirResource;
}

/** Its diagnostics name a patient, as those of real servers do. */
function outcome(code: string): object {
  const diagnostics = 'Rejected for Tolvan Tolvansson 191212121212';
  return { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code, diagnostics }] };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Medplum's CapabilityStatement does not list its operations: https://api.medplum.com/fhir/R4/metadata */
function namedOperations(form: OperationFormName | undefined): readonly string[] {
  if (form === undefined || form === 'medplum') return [];
  return form === 'isik' ? ['book'] : form === 'epic' ? ['find', 'book'] : ['find', 'hold', 'book'];
}

function capabilityStatement(options: FakeOptions, isStaff: boolean): object {
  const codes = (...names: string[]) => names.map((code) => ({ code }));
  const read = codes('read', 'search-type');
  const writes = codes('create', 'update', 'delete');
  const transactions = (options.transactions ?? 'atomic') !== 'none';
  const appointmentWrites = isStaff
    ? writes
    : options.operationsOnly
      ? []
      : options.patchOnly
        ? codes('create', 'patch')
        : writes;
  const documents = options.documents === false ? [] : ['DocumentReference', 'Binary', 'Encounter'];
  const others = ['Patient', 'Practitioner', 'PractitionerRole', 'Location', 'Device', 'HealthcareService'];
  const plainWrites = options.plainWrites === false && !isStaff ? read : [...read, ...writes];
  return {
    resourceType: 'CapabilityStatement',
    fhirVersion: '4.0.1',
    rest: [
      {
        mode: 'server',
        interaction: transactions ? codes('transaction') : [],
        resource: [
          ...others.map((type) => ({
            type,
            interaction: read,
            ...(type === 'Patient' ? patientSupport(options) : {}),
          })),
          ...documents.map((type) => ({ type, interaction: [...read, ...writes] })),
          { type: 'Schedule', interaction: plainWrites },
          {
            type: 'Slot',
            interaction: plainWrites,
            searchRevInclude: options.revIncludesAppointments === false ? [] : ['Appointment:slot'],
          },
          {
            type: 'Appointment',
            supportedProfile: Object.values(options.rules?.changes.profiles ?? {}),
            interaction: [
              ...read,
              ...appointmentWrites,
              ...(options.history === false ? [] : codes('history-instance')),
              ...(options.history === false || options.deletedSearch ? [] : codes('history-type')),
            ],
            searchParam: options.searchesBySlot === false ? [] : [{ name: 'slot', type: 'reference' }],
            searchInclude: options.includesSlots === false ? [] : ['Appointment:slot'],
            operation: namedOperations(options.operations).map((name) => ({ name })),
          },
        ],
      },
    ],
  };
}
