import {
  ConnectorError,
  type EhrHttp,
  type EhrResponse,
  type EhrStream,
  type LeftOutRecord,
} from '@crossward/connector-kit';
import { type Bundle, type FhirResource, storedReference } from '../fhir.ts';
import type { FhirClient, WriteResponse } from './client.ts';
import { createClock, type ObservedClock } from './clock.ts';
import { createHabits } from './habits.ts';
import { isResource, mediaType, parse, versionIn, weakTag } from './messages.ts';
import { hasFailed, isAbsent, isOutcome, rejection } from './outcome.ts';
import { questions } from './questions.ts';
import { reader } from './read.ts';
import { createReceiver, type Receiver } from './received/receive.ts';
import { assertIsStored } from './right-answer.ts';
import { formOf, type Searched, type SearchForm, searcher } from './search.ts';
import { type Call, cancel, querier, sender, streamer } from './send.ts';
import type { Authorizer } from './sign-in/authorizer.ts';

export interface ClientOptions extends SearchForm {
  readonly baseUrl: string;
  /** Other base URLs by which the server names itself. */
  readonly otherBases?: readonly string[];
  /** The zone of moments without an offset. `undefined`: they are not read. */
  readonly localTimeZone?: string | undefined;
  /** The base URL of operations. Default: `baseUrl`. */
  readonly operationsUrl?: string | undefined;
  readonly http: EhrHttp;
  readonly authorizer: Authorizer;
  /** The status of Appointments that means `booked`, besides that. */
  readonly bookedStatus?: string | undefined;
  /** Of every request, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Counts records that cannot be read. */
  readonly leftOut?: ((record: LeftOutRecord) => void) | undefined;
  /** The gateway's clock. */
  readonly now: () => Date;
}

export function createFhirClient(options: ClientOptions): FhirClient {
  const { baseUrl, otherBases = [], operationsUrl = baseUrl, now } = options;
  const [base, operations] = [baseUrl, operationsUrl].map((url) => url.replace(/\/+$/, '')) as [string, string];
  const habits = createHabits();
  const receiver = createReceiver({
    ownBaseUrls: [base, operations, ...otherBases],
    localTimeZone: options.localTimeZone,
    bookedStatus: options.bookedStatus,
    sawLocalTime: habits.sawLocalTime,
    leftOut: (record) => options.leftOut?.(record),
  });
  const ask = questions(habits);
  return clientFor({ ...options, base, operations, otherBases, clock: createClock(now), habits, receiver, ask });
}

/** What every client of one server has in common. */
interface Known extends Omit<ClientOptions, 'baseUrl' | 'otherBases' | 'operationsUrl'>, Searched {
  readonly operations: string;
  readonly clock: ObservedClock;
}

function clientFor(known: Known): FhirClient {
  const { base, operations, http, authorizer, headers = {}, clock, habits, receiver } = known;
  const send = sender(http, authorizer, headers, clock);
  const openStream = streamer(http, authorizer, headers);
  const query = querier(send, receiver);
  const { pages, search, history } = searcher(query, known);

  /**
   * @param written what the response is about
   * @param isRefused whether the body of a 2xx says that nothing was done. An OperationOutcome with an error says so anyway.
   */
  async function write(
    call: Omit<Call, 'headers' | 'refused'> & { headers?: Record<string, string> },
    written?: FhirResource,
    isRefused: (body: unknown) => boolean = () => false,
  ): Promise<WriteResponse> {
    const headers = { 'content-type': mediaType, prefer: 'return=representation', ...call.headers };
    const refused = ({ status, text }: EhrResponse) => {
      const body = receiver.attempt(parse(text));
      return status < 300 && ((isOutcome(body) && hasFailed(body)) || isRefused(body));
    };
    return writeResponse(await send({ ...call, headers, refused }), receiver, written);
  }

  return {
    clock,
    habits,
    ofPatient: (header) => clientFor({ ...known, headers: { ...headers, ...header }, isForOne: true }),
    pages,
    search,
    history,
    ...reader(send, { base, search, habits, receiver }),
    async download(reference, accept) {
      const url = `${base}/${reference}`;
      const response = await openStream({ method: 'GET', url, headers: { accept }, repeatable: true });
      if (response.status === 200) return response;
      await cancel(response);
      if (isAbsent(response, undefined)) return null;
      throw rejection(response, undefined);
    },
    async upload(contentType, content) {
      const response = await openStream({
        method: 'POST',
        url: `${base}/Binary`,
        body: content,
        headers: { 'content-type': contentType, accept: mediaType, prefer: 'return=minimal' },
        repeatable: false,
        // No document refers to it yet.
        writes: false,
      });
      return writeResponse({ ...response, text: await shortText(response) }, receiver);
    },
    create: (resource, { ifNoneExist } = {}) =>
      write(
        {
          method: 'POST',
          url: `${base}/${resource.resourceType}`,
          body: JSON.stringify(resource),
          headers: ifNoneExist === undefined ? {} : { 'if-none-exist': ifNoneExist },
          repeatable: false,
        },
        resource,
      ),
    update: (resource, { ifMatch }) =>
      write(
        {
          method: 'PUT',
          url: `${base}/${resource.resourceType}/${resource.id}`,
          body: JSON.stringify(resource),
          headers: ifMatchHeader(ifMatch),
          repeatable: false,
          // A Slot alone is no booking. Its claim ends, and the next listing frees it.
          writes: resource.resourceType !== 'Slot',
        },
        resource,
      ),
    patch(reference, patch, { ifMatch }) {
      const [resourceType = '', id = ''] = reference.split('/');
      return write(
        {
          method: 'PATCH',
          url: `${base}/${reference}`,
          body: JSON.stringify(patch),
          headers: { ...ifMatchHeader(ifMatch), 'content-type': 'application/json-patch+json' },
          repeatable: false,
        },
        { resourceType, id },
      );
    },
    // Only what the connector has made itself is removed. Nobody asks for that.
    remove: (reference) => write({ method: 'DELETE', url: `${base}/${reference}`, repeatable: true, writes: false }),
    transaction: (bundle) =>
      write({ method: 'POST', url: base, body: JSON.stringify(withFullUrls(bundle, base)), repeatable: false }),
    operation: (path, parameters, { reads = false, isRefused } = {}) =>
      write(
        {
          method: 'POST',
          url: `${operations}/${path}`,
          body: JSON.stringify(parameters),
          repeatable: reads,
        },
        undefined,
        isRefused,
      ),
    ask: (path, parameters) =>
      query(path, {
        method: 'GET',
        url: `${operations}/${path}?${formOf(parameters)}`,
        headers: { 'cache-control': 'no-cache' },
      }),
  };
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

/** Bytes. An OperationOutcome is shorter. */
const longest = 64 * 1024;

/**
 * The body of a response to an upload. Some servers ignore `Prefer: return=minimal` and send the whole content back: a longer
 * body counts as empty, and so does one that breaks off, because the status and the headers say that the upload is done.
 */
async function shortText({ chunks }: EhrStream): Promise<string> {
  const read: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      // Ends the loop, which cancels the rest.
      if (length > longest) return '';
      read.push(chunk);
    }
  } catch (error) {
    if (error instanceof ConnectorError) return '';
    throw error;
  }
  return Buffer.concat(read).toString('utf8');
}

/**
 * @param written the resource as it was sent, or its type and id. `undefined`: the response is about something else.
 * @throws ConnectorError `outcome_unknown` if the response is about another resource
 */
function writeResponse(response: EhrResponse, receiver: Receiver, written?: FhirResource): WriteResponse {
  const { status, headers } = response;
  const body = receiver.attempt(parse(response.text));
  // Medplum responds with 304 to a PUT that changes nothing.
  const ok = status === 304 || (status < 300 && !(isOutcome(body) && hasFailed(body)));
  const resource = isResource(body) && !isOutcome(body) ? body : undefined;
  if (written) assertIsStored(written, { ok, resource, location: storedReference(headers.location) });
  const location = storedReference(headers.location ?? headers['content-location']);
  return {
    status,
    ok,
    body,
    resource,
    reference: resource?.id ? `${resource.resourceType}/${resource.id}` : location,
    version: resource?.meta?.versionId ?? versionIn(headers.etag),
    expires: dateOf(headers.expires),
    rejection: ok ? undefined : rejection(response, body),
  };
}

/** The date in a header. `undefined` for "0" and the like. */
function dateOf(value: string | undefined): Date | undefined {
  const moment = new Date(value !== undefined && value.length > 10 ? value : '');
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
