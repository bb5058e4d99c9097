import { randomUUID } from 'node:crypto';
import type { Problem } from '../problems/problem.ts';
import { resumeWrite } from '../writes/resume.ts';
import type { WriteServices } from '../writes/services.ts';
import { type Answer, completeKey, type KeptWrite, keyContext } from './kept-write.ts';
import { claimKey, type KeyRequest, settleKey } from './keys.ts';

export interface OnceRequest {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly requestId: string;
  /** Where an `Idempotency-Key` was sent: the key, and what makes the request the same one. */
  readonly keyed: Pick<KeyRequest, 'key' | 'fingerprint'> | undefined;
}

/**
 * Runs a write, at most once for each `Idempotency-Key`: a second request with the key gets the first answer, and one
 * that finds the first one broken off finishes what that has begun.
 */
export async function answerOnce(
  services: WriteServices,
  request: OnceRequest,
  run: (write: KeptWrite) => Promise<Answer>,
): Promise<Answer> {
  const { db, keys, process } = services;
  const { clientId, requestId, emr, careUnitId, keyed } = request;
  if (!keyed) {
    return whileActive(services, { operationId: randomUUID(), clientId, key: undefined }, run);
  }
  const claim = await claimKey(db, keys, process, { clientId, emr, careUnitId, ...keyed });
  if (claim.kind === 'replay') return told(claim);
  const { key } = claim;
  const runKept = async (write: KeptWrite) => {
    const answer = await run(write);
    if (!key.isDone) await db.transaction().execute((tx) => completeKey(tx, write, answer));
    return answer;
  };
  const settled = async (write: KeptWrite) => {
    try {
      const resumed = claim.kind === 'taken over' ? await resumeWrite(services, write) : undefined;
      if (resumed === undefined) return await runKept(write);
      if ('body' in resumed) return resumed;
      return await whileActive(services, { ...write, operationId: resumed.anewAs }, runKept);
    } catch (error) {
      await settleKey(db, clientId, key, error, requestId);
      throw error;
    }
  };
  try {
    return await whileActive(services, { operationId: claim.operationId, clientId, key }, settled);
  } finally {
    process.activeKeys.delete(keyContext(clientId, key.hash));
  }
}

async function whileActive(
  { process }: WriteServices,
  write: KeptWrite,
  run: (write: KeptWrite) => Promise<Answer>,
): Promise<Answer> {
  process.active.add(write.operationId);
  try {
    return await run(write);
  } finally {
    process.active.delete(write.operationId);
  }
}

function told(claim: { readonly answer: Answer } | { readonly problem: Problem }): Answer {
  if ('problem' in claim) throw claim.problem;
  return { ...claim.answer, headers: { ...claim.answer.headers, 'idempotency-replayed': 'true' } };
}
