import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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
export function addConnectionCloseOnStop(app: FastifyInstance, isStopping: () => boolean = () => false): void {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping || isStopping()) reply.header('connection', 'close');
    done();
  });
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
