import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, problemAt } from '../../problems/problem.ts';
import type { Drain } from '../../startup/drain.ts';
import { closeInStages, destroyLater } from './staged-close.ts';

/** Headers of every response. HTML pages replace the content security policy. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Maximum length of path and query, in characters. RFC 9110 section 4.1 asks for at least 8000. */
export const longestUrl = 8000;

/** Adds the fixed headers and the request id to every response, including errors. */
export function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    done();
  });
}

export function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...fixedHeaders, 'x-request-id': request.id });
}

/**
 * Closes connections after their current response once the gateway stops. Kept alive, they would block the exit, and a proxy
 * would send its next request on one that closes.
 */
export function addConnectionCloseOnStop(
  app: FastifyInstance,
  drain: Pick<Drain, 'hasBegun'> = { hasBegun: false },
): void {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping || drain.hasBegun) reply.header('connection', 'close');
    done();
  });
}

/** Whether a path, matched or not, is below a FHIR base. */
export function isFacePath(path: string): boolean {
  return /^\/api\/(?:emrs\/[^/]+\/care-units\/[^/]+\/)?fhir-r4(?=[/?]|$)/.test(path);
}

/**
 * A URL of the face as the router compares it. Some clients encode the `$` of a `$operation`, and some write a slash before the
 * query.
 */
export function routedUrl({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  if (!isFacePath(url)) return url;
  const [path = '', ...query] = url.split('?');
  const routed = path.replace(/(?<=\/fhir-r4(?:\/.+)?)\/$/, '').replace(/\/%24(?=[a-z-]+$)/, '/$$');
  return [routed, ...query].join('?');
}

/** Version 1 to 8 of RFC 9562, with its variant. */
const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}';
/** A trace id of W3C Trace Context. */
const hexadecimal = '[0-9a-fA-F]{32}';
/** Crockford's base 32 of 128 bits (https://github.com/ulid/spec). */
const ulid = '[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}';

/** Needs a letter, because digits alone could be numbers joined together. */
const form = new RegExp(`^(?=.*[A-Za-z])(?:${uuid}|${hexadecimal}|${ulid})$`);

/**
 * The caller's `x-request-id` if it is valid, otherwise a generated one. It is kept in the log and in the audit trail, so it
 * must not carry a national number: a freer form could. Of random UUIDs, one in thirty-five has digits by chance that could be
 * a number, so digits among letters are not looked at.
 */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && form.test(given) ? given : randomUUID();
}

/**
 * Headers that must not be repeated (RFC 9110 section 5.3; for `host` RFC 9112 section 3.2). A proxy in front might use
 * the other one of two values. Repeated credentials are treated as incorrect credentials.
 */
const sentOnce: ReadonlySet<string> = new Set(['host', 'content-type', 'idempotency-key', 'authorization']);

/** Rejects ambiguous requests before any other processing. */
export function addRequestSyntax(app: FastifyInstance): void {
  // Asynchronous, so that a short body has arrived before a later hook rejects the request: `addUnreadBody` closes the
  // connection if it has not. The other hooks are not, because each promise costs time.
  app.addHook('onRequest', async ({ raw }) => {
    assertAddress(raw.url ?? '');
    assertHost(raw.headers.host ?? '');
    assertSentOnce(raw.rawHeaders);
  });
}

function assertAddress(url: string): void {
  if (url.length > longestUrl) throw new Problem('uri_too_long');
  // Node rejects non-ASCII, and the router checks the path. The query parser accepts invalid encoding, so check it
  // here.
  if (firstPart.exec(url)?.[1]?.includes('%')) {
    throw new Problem('route_not_found', { detail: 'No path has a percent sign in its first part.' });
  }
  const query = url.indexOf('?');
  if (query !== -1 && !isPercentEncoded(url.slice(query))) {
    throw new Problem('request_invalid', { detail: 'The query is not valid percent-encoded UTF-8.' });
  }
}

/** The first part of a path, which proxies compare as it is written. */
const firstPart = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?\/([^/?#]*)/i;

/** RFC 3986, section 3.2.2, and a port. */
const host = /^(?:\[[0-9A-Za-z:.]*\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

function assertHost(text: string): void {
  if (host.test(text)) return;
  throw problemAt({ in: 'header', header: 'host' }, 'request_invalid', 'The host header is not the name of a host.');
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** @param rawHeaders names and values, alternating */
function assertSentOnce(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!sentOnce.has(name)) continue;
    if (seen.has(name)) {
      throw problemAt({ in: 'header', header: name }, 'request_invalid', `The ${name} header is sent more than once.`);
    }
    seen.add(name);
  }
}

/** Bytes. A longer unread body closes the connection; a shorter one is read and discarded. */
const longestRest = 64 * 1024;

/**
 * Handles request bodies that are still arriving when the response is sent, for example after incorrect credentials. A
 * short body is read and discarded within the grace period. If it is long or of unknown length, the connection is
 * closed.
 */
export function addUnreadBody(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { raw } = request;
    if (!raw.complete) {
      const { socket } = raw;
      if (isLong(request)) {
        reply.header('connection', 'close');
        // Node calls destroySoon after the last response of a connection.
        socket.destroySoon = () => closeInStages(socket);
      } else {
        reply.raw.once('finish', () => {
          if (!raw.complete) raw.once('close', destroyLater(socket));
        });
      }
    }
    done();
  });
}

function isLong({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) > longestRest;
}
