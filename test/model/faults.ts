import { expect } from 'vitest';
import type { Answer } from '../gateway.ts';
import { answerOf, knownAnswerOf } from '../recovery.ts';
import type { Real } from './real.ts';

/**
 * What the EHR does to a write:
 * - `lost`: it does it, its answer is lost, and it stays away while it is asked again
 * - `undone`: the same, but it does not do it
 * - `late`: it does it when its caller was answered
 */
export const ehrFaults = ['lost', 'undone', 'late'] as const;
export type EhrFault = (typeof ehrFaults)[number];

type Send = () => Promise<Answer<{ readonly reason?: string }>>;

/**
 * Sends a request with a key to an EHR that fails, and again until it is known what has become of it: that must be what
 * it would have been without the fault. What does not come to the EHR is answered at once.
 */
export async function sendToFaultyEhr({ ehr }: Real, fault: EhrFault, send: Send): Promise<Answer> {
  const late = fault === 'late' ? ehr.finishLate() : ehr.leaveDuring({ isDone: fault === 'lost' });
  try {
    const first = await send();
    if (first.body.reason !== 'outcome_unknown') return first;
    // The EHR may refuse what it is told; then it is refused again.
    if (late) await late.finish().catch(() => undefined);
    else expect((await answerOf(send)).body, 'while the EHR is away').toMatchObject({ reason: 'outcome_unknown' });
    ehr.comeBack();
    return await knownAnswerOf(send);
  } finally {
    ehr.reset();
  }
}
