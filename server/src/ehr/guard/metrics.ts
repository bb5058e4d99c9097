import type { ConnectorErrorKind } from '@crossward/connector-kit';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { UnreadableCounter } from '../unreadable-records.ts';
import { type BreakerState, breakerStates } from './breaker.ts';
import type { GuardedOperation } from './guarded-operation.ts';

/**
 * `busy`: the queue was full or too slow. `throttled`: the EHR limits the rate of requests. `circuit_open`: circuit breaker open.
 * `paused`: operators have paused the EHR. `fault`: the EHR answered, and is out of order. `error`: a bug. `database`: the
 * gateway's database has failed a connector that keeps its records there.
 */
export type CallOutcome =
  | 'ok'
  | ConnectorErrorKind
  | 'fault'
  | 'busy'
  | 'throttled'
  | 'circuit_open'
  | 'paused'
  | 'database'
  | 'error';

export interface EhrMetrics {
  /** @param error with which the call ended. Absent: it had a result */
  observe(emr: string, operation: GuardedOperation, outcome: CallOutcome, seconds: number, error?: unknown): void;
  /** The EHR has limited the rate of requests. */
  throttled(emr: string): void;
  /** Reads this of an EHR whenever metrics are collected, in place of what was read before. */
  watch(emr: string, watched: WatchedEhr): void;
  /** The EHR is no longer configured. */
  forget(emr: string): void;
}

/** What metrics show of an EHR as it is now. */
export interface WatchedEhr {
  breaker(): BreakerState;
  /** HTTP requests per second. `undefined`: no limit. */
  rate(): number | undefined;
  readonly unreadable: UnreadableCounter['counts'];
}

/** Labels are names from the configuration and the connector interface, never values from a call. */
export function createEhrMetrics(registry: Registry): EhrMetrics {
  const all = new Map<string, WatchedEhr>();
  const throttled = new Counter({
    name: 'crossward_ehr_throttled_requests_total',
    help: 'HTTP requests that an EHR has rejected because of its limit on the rate of requests.',
    labelNames: ['emr'],
    registers: [registry],
  });
  new Gauge({
    name: 'crossward_ehr_request_rate_limit',
    help: 'HTTP requests per second that this process may send an EHR. Absent while there is no limit.',
    labelNames: ['emr'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [emr, { rate }] of all) {
        const current = rate();
        if (current !== undefined) this.set({ emr }, current);
      }
    },
  });
  new Gauge({
    name: 'crossward_ehr_unreadable_records',
    help: 'Records of an EHR that this process could not read within a day, and left out of its responses.',
    labelNames: ['emr', 'type'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [emr, { unreadable }] of all) {
        for (const { type, count } of unreadable()) this.set({ emr, type }, count);
      }
    },
  });
  const duration = new Histogram({
    name: 'crossward_ehr_call_duration_seconds',
    help: 'Duration of calls to an EHR, including the time in the queue.',
    labelNames: ['emr', 'operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
    registers: [registry],
  });
  const calls = new Counter({
    name: 'crossward_ehr_calls_total',
    help: 'Calls to an EHR by outcome. The operation `open` opens the connector.',
    labelNames: ['emr', 'operation', 'outcome'],
    registers: [registry],
  });
  new Gauge({
    name: 'crossward_ehr_breaker_state',
    help: 'State of the circuit breaker of an EHR: 1 for the current state, 0 for the others.',
    labelNames: ['emr', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [emr, { breaker }] of all) {
        for (const state of breakerStates) this.set({ emr, state }, breaker() === state ? 1 : 0);
      }
    },
  });
  return {
    observe(emr, operation, outcome, seconds) {
      duration.observe({ emr, operation }, seconds);
      calls.inc({ emr, operation, outcome });
    },
    throttled: (emr) => throttled.inc({ emr }),
    watch: (emr, watched) => void all.set(emr, watched),
    forget: (emr) => void all.delete(emr),
  };
}
