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
  /** The state is read whenever metrics are collected. */
  watchBreaker(emr: string, state: () => BreakerState): void;
  /** The EHR has limited the rate of requests. */
  throttled(emr: string): void;
  /** The rate is read whenever metrics are collected. `undefined`: no limit. */
  watchRate(emr: string, rate: () => number | undefined): void;
  /** The counts are read whenever metrics are collected. */
  watchUnreadable(emr: string, counts: UnreadableCounter['counts']): void;
}

/** Labels are names from the configuration and the connector interface, never values from a call. */
export function createEhrMetrics(registry: Registry): EhrMetrics {
  const breakers = new Map<string, () => BreakerState>();
  const rates = new Map<string, () => number | undefined>();
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
      for (const [emr, rate] of rates) {
        const current = rate();
        if (current !== undefined) this.set({ emr }, current);
      }
    },
  });
  const unreadable = new Map<string, UnreadableCounter['counts']>();
  new Gauge({
    name: 'crossward_ehr_unreadable_records',
    help: 'Records of an EHR that this process could not read within a day, and left out of its responses.',
    labelNames: ['emr', 'type'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [emr, counts] of unreadable) {
        for (const { type, count } of counts()) this.set({ emr, type }, count);
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
      for (const [emr, current] of breakers) {
        for (const state of breakerStates) this.set({ emr, state }, current() === state ? 1 : 0);
      }
    },
  });
  return {
    observe(emr, operation, outcome, seconds) {
      duration.observe({ emr, operation }, seconds);
      calls.inc({ emr, operation, outcome });
    },
    watchBreaker: (emr, state) => void breakers.set(emr, state),
    throttled: (emr) => throttled.inc({ emr }),
    watchRate: (emr, rate) => void rates.set(emr, rate),
    watchUnreadable: (emr, counts) => void unreadable.set(emr, counts),
  };
}
