import { expect } from 'vitest';
import type { GatewayResponse } from '../gateway/gateway.ts';
import { finalResponse, settledResponse } from '../gateway/recovery.ts';
import type { Real } from './real.ts';

/**
 * Faults of a write in the EHR:
 * - `lost`: the write is made, the response is lost, and the EHR is unavailable during a retry
 * - `undone`: the same, but the write is not made
 * - `late`: the write is made after its caller got a response
 */
export const ehrFaults = ['lost', 'undone', 'late'] as const;
export type EhrFault = (typeof ehrFaults)[number];

type Send = () => Promise<GatewayResponse<{ readonly reason?: string }>>;

/**
 * Sends a request with an idempotency key to a failing EHR and retries it until the outcome is known. The outcome must be
 * the same as without the fault.
 */
export async function sendToFaultyEhr({ ehr }: Real, fault: EhrFault, send: Send): Promise<GatewayResponse> {
  const late = fault === 'late' ? ehr.finishLate() : ehr.goDownDuring({ isDone: fault === 'lost' });
  try {
    const first = await send();
    if (first.body.reason !== 'outcome_unknown') return first;
    // The EHR may reject the write itself; then a retry is rejected too.
    if (late) await late.finish().catch(() => undefined);
    else
      expect((await settledResponse(send)).body, 'while the EHR is unavailable').toMatchObject({
        reason: 'outcome_unknown',
      });
    ehr.comeUp();
    return await finalResponse(send);
  } finally {
    ehr.reset();
  }
}
