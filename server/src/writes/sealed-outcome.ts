import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type KeptProblem, keptProblem, Problem, problemFromKept } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Leased } from './stored-write.ts';
import type { WriteResponse } from './write-kind.ts';

/** What is stored under an `Idempotency-Key`, encrypted. */
type Kept = { readonly response: WriteResponse } | { readonly problem: KeptProblem };
type Keyed = Pick<Leased, 'clientId' | 'keyHash'> & { readonly requestId?: string | undefined };

/** Null without an idempotency key. A problem repeats the id of the request. */
export function sealOutcome(keys: KeyRing, leased: Keyed, outcome: WriteResponse | Problem): Buffer | null {
  if (!leased.keyHash) return null;
  const kept: Kept =
    outcome instanceof Problem ? { problem: keptProblem(outcome, leased.requestId) } : { response: outcome };
  return keys.seal('idempotency', compressJson(kept), context(leased));
}

/** @throws Error when the outcome was encrypted with an unknown secret key */
export function openOutcome(keys: KeyRing, leased: Keyed, sealed: Buffer): WriteResponse | Problem {
  const text = keys.open('idempotency', sealed, context(leased));
  if (!text) throw new Error('A stored response cannot be decrypted: its secret key is unknown');
  const kept = decompressJson(text) as Kept;
  if ('problem' in kept) return problemFromKept(kept.problem);
  return { ...kept.response, headers: { ...kept.response.headers, 'idempotency-replayed': 'true' } };
}

/** The encryption context. */
function context({ clientId, keyHash }: Keyed): string {
  return `key ${clientId} ${keyHash?.toString('hex')}`;
}

/**
 * Whether a problem is stored under the key. Problems that depend on the moment are not. After a failure, a retry must be
 * able to find out the outcome.
 */
export function isStoredUnderKey({ status, reason }: Problem): boolean {
  return status < 500 && status !== 429 && reason !== 'idempotency_in_progress';
}

/** Characters. Shorter texts are not worth compressing: one appointment has about 500. */
const longestPlain = 2048;
const deflatedMark = 'deflate:';

/**
 * JSON of a stored response, compressed if long. A hundred similar appointments shrink to a tenth.
 *
 * @internal for the test with any value
 */
export function compressJson(kept: object): string {
  const text = JSON.stringify(kept);
  // No JSON text begins with the mark.
  return text.length <= longestPlain ? text : deflatedMark + deflateRawSync(text).toString('base64');
}

/** @internal for the test with any value */
export function decompressJson(text: string): unknown {
  if (!text.startsWith(deflatedMark)) return JSON.parse(text);
  return JSON.parse(inflateRawSync(Buffer.from(text.slice(deflatedMark.length), 'base64')).toString('utf8'));
}
