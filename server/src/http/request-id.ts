import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
/** A trace id of W3C Trace Context. With a letter: 32 bare digits are more likely numbers that somebody put together. */
const hexadecimal = '(?=.*[a-fA-F])[0-9a-fA-F]{32}';
/** Crockford's base 32, of 128 bits (https://github.com/ulid/spec). With a letter, for the same reason. */
const ulid = '(?=.*[A-Za-z])[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}';

/** The forms of `x-request-id` that are taken from a caller. Anything freer can carry somebody's number into the log. */
const requestIdPattern = `^(?:${uuid}|${hexadecimal}|${ulid})$`;
const usable = new RegExp(requestIdPattern);

/** The caller's `x-request-id` where it can be taken, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && usable.test(given) ? given : randomUUID();
}
