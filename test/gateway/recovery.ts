import type { Configuration } from '../../server/src/config/configuration.ts';
import type { FaultyEhr } from '../ehrs/faulty-ehr.ts';
import { withTolerantBreakers } from '../ehrs/other-ehrs.ts';
import { eventually } from '../requests/codes.ts';
import type { Gateway, GatewayResponse } from './gateway.ts';

export interface Recovery {
  /** For how long after the last look-up a missing write does not count as not made. */
  readonly settling_seconds?: number;
  /** For how long after the request the gateway may still make the write. */
  readonly give_up_seconds?: number;
  /** Time-out of one EHR call, and of its wait in the queue. */
  readonly timeout_ms?: number;
}

/** For tests in which an EHR fails for a while. Shortens waits, and keeps circuit breakers closed. */
export function withQuickRecovery(
  configuration: Configuration,
  { settling_seconds = 1, give_up_seconds = 600, timeout_ms = 20_000 }: Recovery = {},
): Configuration {
  const limits = { timeout_ms, queue_timeout_ms: timeout_ms, settling_seconds, give_up_seconds };
  const patient = withTolerantBreakers(configuration);
  const emrs = patient.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, ...limits } }));
  return { ...patient, emrs };
}

type PossibleProblem = GatewayResponse<{ readonly reason?: string }>;

/** Waits until every EHR of the gateway is available. The gateway starts before they are. */
export async function allAvailable(gateway: Gateway): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.request<{ emrs: { id: string; status: string }[] }>('GET', '/api/emrs');
    const unavailable = body.emrs.filter(({ status }) => status !== 'available');
    if (unavailable.length > 0) throw new Error(`Not available: ${unavailable.map(({ id }) => id)}`);
  });
}

/** Sends the request until no other request with its idempotency key is in progress. */
export function settledResponse<Result extends PossibleProblem>(send: () => Promise<Result>): Promise<Result> {
  return eventually(async () => {
    const response = await send();
    if (response.body.reason === 'idempotency_in_progress')
      throw new Error('A request with the same idempotency key is in progress');
    return response;
  });
}

/** Sends the request until its outcome is known. */
export function finalResponse<Result extends PossibleProblem>(send: () => Promise<Result>): Promise<Result> {
  return eventually(async () => {
    const response = await settledResponse(send);
    if (response.body.reason === 'outcome_unknown') throw new Error('The outcome is still unknown');
    return response;
  });
}

/** Waits until background jobs have called an unavailable EHR this many more times. */
export async function calledWhileUnavailable(ehr: FaultyEhr, times = 1): Promise<void> {
  const before = ehr.rejectedCalls;
  await eventually(() => {
    if (ehr.rejectedCalls < before + times) throw new Error('The gateway has not called the EHR');
  });
}

/** Waits until reconciliation has looked for a write and not found it, at `since` (milliseconds of `Date.now()`) or later. */
export async function lookedUpWithoutResult(ehr: FaultyEhr, since: number): Promise<void> {
  await eventually(() => {
    if (!ehr.emptyLookUps.some((firstSentAt) => firstSentAt >= since))
      throw new Error('No look-up has ended without a result');
  });
}

/** Waits until `/metrics` counts one more call to the EHR whose labels have these values. */
export async function nextCall(gateway: Gateway, emr: string, ...words: readonly string[]): Promise<void> {
  const count = async () => {
    const { text } = await gateway.request('GET', '/metrics', { client: null });
    const calls = text.matchAll(/^crossward_ehr_calls_total\{(.*)\} (\d+)$/gm);
    return [...calls]
      .filter(([, labels = '']) => [emr, ...words].every((word) => labels.includes(`"${word}"`)))
      .reduce((sum, [, , number]) => sum + Number(number), 0);
  };
  const before = await count();
  await eventually(async () => {
    if ((await count()) === before) throw new Error('The gateway has not called the EHR');
  });
}
