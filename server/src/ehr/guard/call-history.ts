import { causeOf } from './cause-of.ts';
import type { GuardedOperation } from './guarded-operation.ts';
import type { CallOutcome, EhrMetrics } from './metrics.ts';

const minutes = 60;
const minuteMs = 60_000;
/** Upper limits of the latency classes in milliseconds, each 1.5 times the one before. The last class has no limit. */
const limits = Array.from({ length: 30 }, (_, index) => 1.5 ** index);

/** No call in any class of latency. */
export const noLatencies: readonly number[] = Array.from({ length: limits.length + 1 }, () => 0);

/** The calls of one minute. */
export interface MinuteOfCalls {
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly calls: number;
  /** Calls that the EHR did not serve. A rejection counts as served. */
  readonly failures: number;
  /** Milliseconds that half of the served calls, and 95 % of them, took at most, exact to 50 %. `null`: no served call. */
  readonly median: number | null;
  readonly p95: number | null;
}

/** A call that the EHR did not serve. */
export interface FailedCall {
  /** When it ended. */
  readonly at: Date;
  readonly operation: GuardedOperation;
  readonly outcome: CallOutcome;
  /** In words, without a full stop: `connection refused by 127.0.0.1:8095`. For operators: it names hosts. */
  readonly cause: string;
  /** Including the time in the queue. */
  readonly milliseconds: number;
}

/** The calls of one method of the port in the last hour. */
export interface CallsOfOperation {
  readonly operation: GuardedOperation;
  readonly calls: number;
  readonly failures: number;
}

/** The calls to each EHR in the last hour, as seen by this process. Those that an open circuit breaker prevented do not count. */
export interface CallHistory {
  /** The last sixty minutes, the oldest first. The last one is not complete. */
  of(emr: string): readonly MinuteOfCalls[];
  /** The methods that were called in these minutes, the most frequent first. */
  operations(emr: string): readonly CallsOfOperation[];
  /** The last twenty calls that failed, the newest first, however old. */
  failed(emr: string): readonly FailedCall[];
  /** The served calls of one of these minutes, by class of latency. */
  latencies(emr: string, start: number): readonly number[];
}

const mostFailed = 20;

/** Outcomes that say something about the EHR and count as its failures. */
const failures: ReadonlySet<CallOutcome> = new Set([
  'unavailable',
  'timeout',
  'connection_closed',
  'outcome_unknown',
  'fault',
  'busy',
  'throttled',
  'error',
]);
/** Outcomes without a call, or after a time-out: their duration says nothing about the latency. */
const unmeasured: ReadonlySet<CallOutcome> = new Set(['busy', 'throttled', 'unavailable', 'connection_closed']);

interface Minute {
  calls: number;
  failures: number;
  /** Served calls in each class of latency, up to the last class that has some. */
  readonly classes: number[];
  readonly operations: Map<GuardedOperation, { calls: number; failures: number }>;
}

/** Keeps the calls of the last hour in memory: some 20 kB for an EHR that is called in each minute. `metrics` gets them too. */
export function recordCalls(
  metrics: EhrMetrics,
  now: () => Date = () => new Date(),
): { readonly metrics: EhrMetrics; readonly history: CallHistory } {
  /** By EHR and the number of the minute since 1970. */
  const hours = new Map<string, Map<number, Minute>>();
  const lastFailed = new Map<string, readonly FailedCall[]>();

  const numberNow = () => Math.floor(now().getTime() / minuteMs);

  function minuteNow(emr: string): Minute {
    const hour = hours.get(emr) ?? new Map<number, Minute>();
    hours.set(emr, hour);
    const number = numberNow();
    const known = hour.get(number);
    if (known) return known;
    for (const before of hour.keys()) if (before <= number - minutes) hour.delete(before);
    const minute = { calls: 0, failures: 0, classes: [], operations: new Map() };
    hour.set(number, minute);
    return minute;
  }

  return {
    metrics: {
      ...metrics,
      observe(emr, operation, outcome, seconds, error) {
        metrics.observe(emr, operation, outcome, seconds, error);
        const isFailure = failures.has(outcome);
        if (isFailure) {
          const milliseconds = Math.round(seconds * 1000);
          const call = { at: now(), operation, outcome, cause: causeOf(error), milliseconds };
          lastFailed.set(emr, [call, ...(lastFailed.get(emr) ?? [])].slice(0, mostFailed));
        }
        // No call was made, or the gateway's database failed. During an outage, those of the open circuit breaker would outnumber the calls that failed.
        if (outcome === 'paused' || outcome === 'circuit_open' || outcome === 'database') return;
        // Reads the EHR's capabilities. It takes longer than any other call, and no caller waits for it.
        if (operation === 'open') return;
        const minute = minuteNow(emr);
        minute.calls++;
        if (isFailure) minute.failures++;
        const own = minute.operations.get(operation) ?? { calls: 0, failures: 0 };
        own.calls++;
        if (isFailure) own.failures++;
        minute.operations.set(operation, own);
        if (unmeasured.has(outcome)) return;
        const index = classOf(seconds * 1000);
        while (minute.classes.length <= index) minute.classes.push(0);
        minute.classes[index] = (minute.classes[index] as number) + 1;
      },
      forget(emr) {
        metrics.forget(emr);
        hours.delete(emr);
        lastFailed.delete(emr);
      },
    },
    history: {
      latencies(emr, start) {
        const classes = hours.get(emr)?.get(start / minuteMs)?.classes;
        return noLatencies.map((none, index) => classes?.[index] ?? none);
      },
      of(emr) {
        const last = numberNow();
        return Array.from({ length: minutes }, (_, index) => {
          const number = last - minutes + 1 + index;
          const start = number * minuteMs;
          const { calls = 0, failures = 0, classes = [] } = hours.get(emr)?.get(number) ?? {};
          return { start, calls, failures, median: latencyOf(classes, 0.5), p95: latencyOf(classes, 0.95) };
        });
      },
      operations(emr) {
        const first = numberNow() - minutes + 1;
        const sums = new Map<GuardedOperation, CallsOfOperation>();
        for (const [number, minute] of hours.get(emr) ?? []) {
          if (number < first) continue;
          for (const [operation, { calls, failures }] of minute.operations) {
            const sum = sums.get(operation);
            sums.set(operation, {
              operation,
              calls: calls + (sum?.calls ?? 0),
              failures: failures + (sum?.failures ?? 0),
            });
          }
        }
        return [...sums.values()].sort((one, other) => other.calls - one.calls);
      },
      failed: (emr) => lastFailed.get(emr) ?? [],
    },
  };
}

function classOf(milliseconds: number): number {
  if (milliseconds <= 1) return 0;
  return Math.min(Math.ceil(Math.log(milliseconds) / Math.log(1.5)), limits.length);
}

/** Milliseconds that this share of the calls took at most, exact to 50 %, from the calls in each class. `null`: no call. */
export function latencyOf(classes: readonly number[], share: number): number | null {
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let sum = 0;
  const index = classes.findIndex((count) => {
    sum += count;
    return sum >= share * total;
  });
  return Math.round(limits[Math.min(index, limits.length - 1)] ?? 0);
}
