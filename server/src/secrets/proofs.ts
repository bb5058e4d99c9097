import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

/** A row of the database that opens something. A proof of one kind proves no other. */
export type ProofKind = 'client' | 'operator' | 'session' | 'sign-in link' | 'webhook endpoint';

/** What a row grants, with what identifies it. Absent is the same as null. */
export type Facts = Readonly<Record<string, unknown>>;

const keyIdBytes = 4;

/**
 * Shows that a gateway has made a row as it is: a keyed hash (HMAC-SHA-256) of what the row grants, with the newest secret key. It
 * begins with the id of the key. Whoever can write to the database alone cannot make one.
 */
export function prove(keys: KeyRing, kind: ProofKind, facts: Facts): Buffer {
  const [{ id, key }] = keys.signingKeys('proof');
  return Buffer.concat([Buffer.from(id, 'hex'), hashOf(key, kind, facts)]);
}

/** Whether this is the proof of these facts, under any known secret key. */
export function isProven(keys: KeyRing, kind: ProofKind, facts: Facts, proof: Buffer | null): boolean {
  const id = proof?.subarray(0, keyIdBytes).toString('hex');
  const known = keys.signingKeys('proof').find((it) => it.id === id);
  if (!proof || !known) return false;
  const given = proof.subarray(keyIdBytes);
  const right = hashOf(known.key, kind, facts);
  return given.length === right.length && timingSafeEqual(given, right);
}

/** The same text for the same facts, in whichever order their members are. */
export function textOfFacts(facts: Facts): string {
  return JSON.stringify(ordered(facts));
}

function hashOf(key: KeyObject, kind: ProofKind, facts: Facts): Buffer {
  return createHmac('sha256', key)
    .update(`${kind}\n${textOfFacts(facts)}`)
    .digest();
}

function ordered(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object') return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, ordered(member)]);
}
