import { ConnectorError, isFaultOfEhr } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import type { BreakerState } from './guard/breaker.ts';
import { causeOf } from './guard/cause-of.ts';

const minuteMs = 60_000;

/** The lines of the log about an EHR that fails: one when it becomes unavailable, then one a minute, one when it is back. */
export interface OutageLog {
  /** A request has failed because of the EHR. */
  requestFailed(cause: unknown): void;
  /** @param cause the error with which the call ended that changed the state, if it ended with one */
  breakerChanged(state: BreakerState, cause?: unknown): void;
  stop(): void;
}

const withOutageLines: readonly string[] = ['ehr_unavailable', 'ehr_timeout', 'ehr_paused'] satisfies Reason[];

/** Whether the log tells of this failure for the EHR as a whole, so that a single call is not worth a warning. */
export function hasOutageLines(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  const isFault = error.cause instanceof ConnectorError && isFaultOfEhr(error.cause);
  return withOutageLines.includes(error.reason) || (error.reason === 'ehr_rejected' && isFault);
}

export function createOutageLog(emr: string, log: Pick<Logger, 'info' | 'error'>): OutageLog {
  /** When the circuit breaker opened. */
  let since: number | undefined;
  let failed = 0;
  let failedInMinute = 0;
  let latest: unknown;
  let timer: NodeJS.Timeout | undefined;

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const start = () => {
    stop();
    timer = setInterval(minute, minuteMs).unref();
  };
  // While the connection is not open, a request fails without a cause of its own: that of the opening has a line.
  const fault = () => (latest === undefined ? {} : { fault: causeOf(latest) });
  const facts = () => ({ emr, ...fault(), failed_requests: failedInMinute });

  function minute(): void {
    if (since === undefined && failedInMinute === 0) {
      stop();
      return;
    }
    log.error(facts(), since === undefined ? 'requests to the EHR fail' : 'EHR still unavailable');
    failedInMinute = 0;
  }

  return {
    requestFailed(cause) {
      failed++;
      failedInMinute++;
      // What the circuit breaker rejects says nothing about the cause.
      if (since === undefined) latest = cause;
      if (!timer) start();
    },
    breakerChanged(state, cause) {
      if (state === 'open' && cause !== undefined) latest = cause;
      if (state === 'open' && since === undefined) {
        since = performance.now();
        log.error({ ...facts(), breaker: state }, 'EHR unavailable');
        failed = 0;
        failedInMinute = 0;
        start();
      }
      if (state === 'closed' && since !== undefined) {
        const seconds = Math.round((performance.now() - since) / 1000);
        log.info({ emr, seconds, failed_requests: failed }, 'EHR available again');
        since = undefined;
        failedInMinute = 0;
        stop();
      }
    },
    stop,
  };
}
