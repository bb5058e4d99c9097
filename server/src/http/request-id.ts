import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hasNationalNumber } from '../identifiers/number-in-text.ts';

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
/** A trace id of W3C Trace Context. */
const hexadecimal = '[0-9a-fA-F]{32}';
/** Crockford's base 32 of 128 bits (https://github.com/ulid/spec). */
const ulid = '[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}';

/** Needs a letter, because digits alone could be numbers joined together. */
const form = new RegExp(`^(?=.*[A-Za-z])(?:${uuid}|${hexadecimal}|${ulid})$`);

/**
 * The caller's `x-request-id` if it is valid, otherwise a generated one. It is kept in the log and in the audit trail, so it
 * must not carry a national number: a freer form could, and so can digits in one of these forms. Of random UUIDs, one in
 * thirty-five has such digits by chance.
 */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  const isUsable = typeof given === 'string' && form.test(given) && !hasNationalNumber(given);
  return isUsable ? given : randomUUID();
}
