import { STATUS_CODES } from 'node:http';
import type { Bundle, BundleEntry, OperationOutcome, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { endpoint } from '../api/endpoint.ts';
import type { Problem } from '../problems/problem.ts';
import { baseOf, facePath, faceRepresentation, outcomeOf } from './face.ts';
import { invalid, unprocessable } from './from-fhir/faults.ts';
import { common, jsonMediaTypes, okResponse } from './interaction.ts';
import { checked } from './native.ts';

const mostEntries = 20;
/** A batch takes no more of the gateway than some callers at a time. */
const atOnce = 4;

const batchSchema = Type.Object({
  resourceType: Type.Literal('Bundle'),
  type: Type.String(),
  entry: Type.Optional(
    Type.Array(
      Type.Object({
        request: Type.Object({
          method: Type.String(),
          url: Type.String({ minLength: 1, maxLength: 4_000 }),
          ifNoneMatch: Type.Optional(Type.String({ maxLength: 200 })),
        }),
      }),
      { maxItems: mostEntries },
    ),
  ),
});
type Sent = NonNullable<Static<typeof batchSchema>['entry']>[number]['request'];

/** Of the Bundle, or of how it is sent: not of the requests in it. */
const notOfEntries =
  /^(content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|accept-encoding|if-.*|idempotency-key)$/;

/**
 * `POST [base]` with a batch of reads and searches: https://hl7.org/fhir/R4/http.html#transaction. Each is a request of its own, with
 * its limits, scopes and audit entry, and has a response of its own.
 */
export const batch = endpoint({
  ...common,
  operationId: 'fhir_batch',
  method: 'POST',
  path: facePath,
  scopes: [],
  audit: 'none',
  body: Type.Unknown(),
  response: okResponse,
  representation: { ...faceRepresentation('Bundle'), consumes: jsonMediaTypes },
  handle: async ({ body }, request) => ({ body: await answer(request, body) }),
});

async function answer(request: FastifyRequest, sent: unknown): Promise<Bundle> {
  const { type, entry: sentEntries = [] } = checked(request, batchSchema, sent);
  if (type !== 'batch') throw unprocessable('/type', 'The Bundle is a batch. Send writes one by one.', 'not-supported');
  const entry: BundleEntry[] = [];
  for (let index = 0; index < sentEntries.length; index += atOnce) {
    const some = sentEntries.slice(index, index + atOnce);
    entry.push(...(await Promise.all(some.map((it, at) => entryOf(request, it.request, index + at)))));
  }
  return { resourceType: 'Bundle', type: 'batch-response', ...(entry.length > 0 ? { entry } : {}) };
}

async function entryOf(request: FastifyRequest, sent: Sent, index: number): Promise<BundleEntry> {
  const target = targetOf(request, sent, `/entry/${index}/request`);
  if (typeof target !== 'string') {
    return { response: { status: statusLine(target.status), outcome: outcomeOf(target, request, 'Bundle') } };
  }
  const own = Object.entries(request.headers).filter(([name]) => !notOfEntries.test(name));
  const { statusCode, headers, body } = await request.server.inject({
    method: 'GET',
    url: target,
    headers: {
      ...Object.fromEntries(own),
      accept: 'application/fhir+json',
      ...(sent.ifNoneMatch === undefined ? {} : { 'if-none-match': sent.ifNoneMatch }),
    },
    remoteAddress: request.socket.remoteAddress ?? request.ip,
  });
  const { etag } = headers;
  const shown = body === '' ? undefined : (JSON.parse(body) as Resource);
  const isFault = statusCode >= 400;
  return {
    ...(shown && !isFault ? { resource: shown } : {}),
    response: {
      status: statusLine(statusCode),
      ...(typeof etag === 'string' ? { etag } : {}),
      ...(shown && isFault ? { outcome: shown as OperationOutcome } : {}),
    },
  };
}

const statusLine = (status: number) => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

/** Paths below the base URL of which each response is a resource. Files of `$bulk-publish` are none, and large. */
const ofResources = /^(metadata|[A-Z][A-Za-z]+(\/.*)?)$/;

/** The path and query of an entry, which is relative to the base URL, or absolute below it. */
function targetOf(request: FastifyRequest, { method, url }: Sent, pointer: string): string | Problem {
  if (method !== 'GET')
    return unprocessable(`${pointer}/method`, 'A batch has reads and searches by GET.', 'not-supported');
  const base = `${baseOf(request)}/`;
  const { origin, pathname } = new URL(base);
  const found = URL.parse(url.startsWith(base) ? url.slice(base.length) : url, base);
  const isBelow = found?.origin === origin && found.pathname.startsWith(pathname) && found.pathname !== pathname;
  if (!found || !isBelow) return invalid(`${pointer}/url`, 'The URL must be relative to the base URL, or below it.');
  const target = found.pathname.slice(pathname.length);
  if (!ofResources.test(target)) return invalid(`${pointer}/url`, 'A batch has reads and searches of resources.');
  found.searchParams.delete('_format');
  const path = request.url.replace(/\?.*/, '').replace(/\/?$/, '/');
  return `${path}${target}${found.search}`;
}
