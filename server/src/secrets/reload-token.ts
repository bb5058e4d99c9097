import type { KeyRing } from './key-ring.ts';

/** The request header with the token. */
export const reloadHeader = 'x-crossward-reload';

const minuteMs = 60_000;

/**
 * What proves to a gateway that somebody who has its secret key asks it to read its configuration again: a keyed hash of the
 * time, valid for one to two minutes. The first one is to be sent, any of them is accepted.
 *
 * @param now milliseconds since 1970
 */
export function reloadTokens(keys: KeyRing, now: number): readonly [string, ...string[]] {
  const minute = Math.floor(now / minuteMs);
  const tokensOf = (number: number) => keys.hashes('reload', String(number)).map((hash) => hash.toString('base64url'));
  const [first = '', ...others] = [...tokensOf(minute), ...tokensOf(minute - 1)];
  return [first, ...others];
}
