import { randomInt, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

/** Random digits from the system's secure source. May begin with zeros. */
export function makeCode(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}

/** A keyed hash: without the secret key, trying all six-digit codes does not reveal the code. */
export function hashCode(keys: KeyRing, confirmationId: string, code: string): Buffer {
  return keys.hashes('code', `${confirmationId} ${code}`)[0];
}

/** Compares in constant time, with every known secret key. */
export function isCode(keys: KeyRing, confirmationId: string, code: string, kept: Buffer): boolean {
  let matches = false;
  for (const hash of keys.hashes('code', `${confirmationId} ${code}`)) {
    matches = (hash.length === kept.length && timingSafeEqual(hash, kept)) || matches;
  }
  return matches;
}
