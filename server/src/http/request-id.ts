import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
/** A trace id of W3C Trace Context. Needs a letter, because 32 digits could be personal numbers joined together. */
const hexadecimal = '(?=.*[a-fA-F])[0-9a-fA-F]{32}';
/** Crockford's base 32 of 128 bits (https://github.com/ulid/spec). Needs a letter for the same reason. */
const ulid = '(?=.*[A-Za-z])[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}';

/** Accepted forms of `x-request-id`. A freer form could carry a personal number into the log. */
const requestIdPattern = `^(?:${uuid}|${hexadecimal}|${ulid})$`;
const usable = new RegExp(requestIdPattern);

/** The caller's `x-request-id` if it is valid, otherwise a generated one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && usable.test(given) ? given : randomUUID();
}
