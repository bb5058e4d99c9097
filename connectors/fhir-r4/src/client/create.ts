import type { EhrHttp, LeftOutRecord } from '@crossward/connector-kit';
import type { Authorizer } from '../auth/authorizer.ts';
import type { FhirClient, WriteResponse } from '../client.ts';
import { createClock } from '../clock.ts';
import { weakTag } from '../etag.ts';
import type { Bundle, FhirResource } from '../fhir.ts';
import { rejection } from '../outcome.ts';
import { mediaType } from './body.ts';
import { createHabits } from './habits.ts';
import { reader } from './read.ts';
import { formOf, searcher } from './search.ts';
import { type Call, cancel, querier, sender, streamer } from './send.ts';
import { shortText } from './short-text.ts';
import { writeResponse } from './write-response.ts';

export interface ClientOptions {
  readonly baseUrl: string;
  /** Other base URLs by which the server names itself. */
  readonly otherBases?: readonly string[];
  /** The base URL of operations. Default: `baseUrl`. */
  readonly operationsUrl?: string | undefined;
  readonly http: EhrHttp;
  readonly authorizer: Authorizer;
  readonly preferStrict: boolean;
  /** Counts a resource that cannot be read and is left out. */
  readonly leftOut?: ((record: LeftOutRecord) => void) | undefined;
  /** The gateway's clock. */
  readonly now: () => Date;
}

export function createFhirClient(options: ClientOptions): FhirClient {
  const {
    baseUrl,
    otherBases = [],
    operationsUrl = baseUrl,
    http,
    authorizer,
    preferStrict,
    now,
    leftOut = () => undefined,
  } = options;
  const [base, operations] = [baseUrl, operationsUrl].map((url) => url.replace(/\/+$/, '')) as [string, string];
  const clock = createClock(now);
  const send = sender(http, authorizer, clock);
  const openStream = streamer(http, authorizer);
  const query = querier(send);
  const habits = createHabits();
  const { pages, search, history } = searcher(query, { base, otherBases, preferStrict, habits, leftOut });

  /** @param written what the response is about */
  async function write(
    call: Omit<Call, 'headers'> & { headers?: Record<string, string> },
    written?: FhirResource,
  ): Promise<WriteResponse> {
    const headers = { 'content-type': mediaType, prefer: 'return=representation', ...call.headers };
    return writeResponse(await send({ ...call, headers }), written);
  }

  return {
    clock,
    habits,
    pages,
    search,
    history,
    ...reader(send, { base, search, habits, leftOut }),
    async download(reference, accept) {
      const url = `${base}/${reference}`;
      const response = await openStream({ method: 'GET', url, headers: { accept }, repeatable: true });
      if (response.status === 200) return response;
      await cancel(response);
      if (response.status === 404 || response.status === 410) return null;
      throw rejection(response, undefined);
    },
    async upload(contentType, content) {
      const response = await openStream({
        method: 'POST',
        url: `${base}/Binary`,
        body: content,
        headers: { 'content-type': contentType, accept: mediaType, prefer: 'return=minimal' },
        repeatable: false,
      });
      return writeResponse({ ...response, text: await shortText(response) });
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
    update: (resource, { ifMatch, repeatable = false }) =>
      write(
        {
          method: 'PUT',
          url: `${base}/${resource.resourceType}/${resource.id}`,
          body: JSON.stringify(resource),
          headers: ifMatchHeader(ifMatch),
          repeatable: repeatable && ifMatch !== undefined,
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
    remove: (reference) => write({ method: 'DELETE', url: `${base}/${reference}`, repeatable: true }),
    transaction: (bundle) =>
      write({ method: 'POST', url: base, body: JSON.stringify(withFullUrls(bundle, base)), repeatable: false }),
    operation: (path, parameters) =>
      write({ method: 'POST', url: `${operations}/${path}`, body: JSON.stringify(parameters), repeatable: false }),
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
