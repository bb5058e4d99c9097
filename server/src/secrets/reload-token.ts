import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

/** The request header with the token. */
export const reloadHeader = 'x-crossward-reload';

const validMs = 60_000;

/**
 * What proves to a gateway that somebody who has its secret key asks it to read its configuration again: the time with a keyed
 * hash of it, and of whether that is forced.
 *
 * @param now milliseconds since 1970
 */
export function reloadToken(keys: KeyRing, isForced: boolean, now: number): string {
  const [token = ''] = tokensOf(keys, isForced, now);
  return token;
}

/**
 * Returns what takes each token once, for a minute. Workers do not tell each other which they have taken.
 */
export function checkReloadTokens(keys: KeyRing): (token: string, isForced: boolean, now: number) => boolean {
  const taken = new Map<string, number>();
  return (token, isForced, now) => {
    const at = Number.parseInt(token, 10);
    const isKnown = tokensOf(keys, isForced, at).some((known) => timingSafeEqual(hashOf(known), hashOf(token)));
    if (!isKnown || Math.abs(now - at) > validMs || taken.has(token)) return false;
    for (const [other, otherAt] of taken) if (now - otherAt > validMs) taken.delete(other);
    taken.set(token, at);
    return true;
  };
}

function tokensOf(keys: KeyRing, isForced: boolean, at: number): readonly string[] {
  return keys.hashes('reload', `${at} ${isForced}`).map((hash) => `${at}.${hash.toString('base64url')}`);
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
