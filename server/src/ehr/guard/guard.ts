import {
  ConnectorError,
  type ConnectorErrorKind,
  isFaultOfEhr,
  isFaultStatus,
  writeOperations,
} from '@crossward/connector-kit';
import { currentContext } from '../../context/work-context.ts';
import { databaseSilent } from '../../db/errors.ts';
import { inCallSpan, tracing } from '../../telemetry/tracing.ts';
import { type Pause, Paused } from '../pauses.ts';
import { type BreakerState, createBreaker, type Judge } from './breaker.ts';
import { newFacts, withinCallTime } from './call-scope.ts';
import { exactSize } from './exact-size.ts';
import type { GuardedOperation } from './guarded-operation.ts';
import { limitStream, type StreamLimits } from './limit-stream.ts';
import type { CallOutcome, EhrMetrics } from './metrics.ts';
import { isOfDatabase } from './of-database.ts';
import { Throttled } from './throttled.ts';
import { createTurns } from './turns.ts';

export interface GuardSettings {
  /** Time-out of one call, after its wait in the queue. It starts again when the call reports progress. */
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
  readonly breaker: { readonly failures: number; readonly resetSeconds: number };
  readonly streams: StreamLimits;
}

/** Opening a connector can take many requests, and no caller waits for it. */
const shortestOpeningLimitMs = 60_000;

/** Health of an EHR as seen by this process. */
export interface EhrHealth {
  readonly breaker: BreakerState;
  readonly lastSuccessAt: Date | null;
  /**
   * When a call was last answered from memory since the EHR has failed. `undefined`: none was, or a call has succeeded since.
   * What it returned may be out of date.
   */
  readonly answeredFromMemoryAt: Date | undefined;
  /** Set while operators have paused the EHR. */
  readonly pause: Pause | undefined;
}

/** Protects every call of one connection with limits, so that failures of one EHR do not affect others. */
export interface Guard {
  /**
   * @throws ConnectorError the error of the call; `unavailable` if the queue is full, the circuit breaker is open or
   *   operators have paused the EHR (`Paused`);
   *   on a time-out `timeout`, or `outcome_unknown` for a write;
   *   `outcome_unknown` for a write that fails after it has sent a request that may have changed something
   */
  run<Result>(operation: GuardedOperation, call: () => Promise<Result>): Promise<Result>;
  /**
   * Like `run`, for a call that returns a stream. The call lasts until its stream ends, for the limit of concurrent calls;
   * its time-out and the circuit breaker apply until the stream begins. A stream of another size than it says fails.
   */
  stream<Result extends Streamed | null>(operation: GuardedOperation, call: () => Promise<Result>): Promise<Result>;
  health(): EhrHealth;
  /** The error of calls while operators have paused the EHR, otherwise `undefined`. */
  paused(): Paused | undefined;
  /** No call is made or queued. */
  isIdle(): boolean;
}

interface Streamed {
  /** Bytes. `null`: not known. */
  readonly size: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface Surroundings {
  readonly emr: string;
  /** Whether the connector reaches its EHR in another way: the default. Otherwise a call without a request is one from memory. */
  countsEveryCall?(): boolean;
  /** Whether the connector has its EHR in the gateway's database, and that does not answer. */
  waitsForDatabase?(): boolean;
  readonly metrics: EhrMetrics;
  /** The error of calls while operators have paused the EHR, otherwise `undefined`. */
  paused(): Paused | undefined;
  onBreakerChange(state: BreakerState, error?: unknown): void;
}

/** The call was not made. */
class NotMade extends ConnectorError {
  readonly outcome: 'busy' | 'circuit_open';

  constructor(outcome: NotMade['outcome'], message: string, retryAfterSeconds?: number) {
    super('unavailable', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.outcome = outcome;
  }
}
const busy = () => new NotMade('busy', 'Too many calls to the EHR are queued');
const circuitOpen = (seconds: number) => new NotMade('circuit_open', 'Circuit breaker open', seconds);

/** After these errors, it is unknown whether the EHR performed the call. */
const silences: readonly ConnectorErrorKind[] = ['timeout', 'connection_closed'];

export function createGuard(
  settings: GuardSettings,
  { emr, countsEveryCall = () => true, waitsForDatabase = () => false, metrics, paused, onBreakerChange }: Surroundings,
): Guard {
  const turns = createTurns(settings);
  const breaker = createBreaker({
    ...settings.breaker,
    askedToWait: (error) => (error instanceof ConnectorError ? error.retryAfterSeconds : undefined),
    onChange: onBreakerChange,
  });
  let lastSuccessAt: Date | null = null;
  let isFailing = false;
  let answeredFromMemoryAt: Date | undefined;

  /** @param afterwards runs with the result while the turn is still taken */
  function run<Result>(
    operation: GuardedOperation,
    call: () => Promise<Result>,
    afterwards: (result: Result) => Promise<void> | void = () => undefined,
  ): Promise<Result> {
    const span = tracing?.call(operation, { 'crossward.emr': emr, 'crossward.ehr_operation': operation });
    if (!span) return limited(operation, call, afterwards);
    // A call that has waited in the queue begins where another one has ended.
    return inCallSpan(span, () => limited(operation, () => span.within(call), afterwards), outcomeOf);
  }

  async function limited<Result>(
    operation: GuardedOperation,
    call: () => Promise<Result>,
    afterwards: (result: Result) => Promise<void> | void,
  ): Promise<Result> {
    const begun = performance.now();
    const observe = (outcome: CallOutcome, error?: unknown) =>
      metrics.observe(emr, operation, outcome, (performance.now() - begun) / 1000, error);
    const limitMs = operation === 'open' ? Math.max(settings.timeoutMs, shortestOpeningLimitMs) : settings.timeoutMs;
    const longestMs = Math.max(limitMs, settings.streams.totalMs);
    const facts = newFacts();
    const inTime = () =>
      withinCallTime(limitMs, call, () => late(operation, waitsForDatabase()), longestMs, facts).catch(
        unknownIfSilent(operation),
      );
    /** The request may be one that another call has sent for both. */
    const wasThrottled = (error: unknown) => facts.wasThrottled || error instanceof Throttled;
    /** A call that was answered from memory, or that the rate of requests has stopped, says nothing about the EHR. */
    const judge: Judge = (error) => {
      const isFailure = error !== undefined && isFault(error);
      if (!((isFailure ? facts.hasAskedEhr : facts.hasAnswer) || countsEveryCall())) return 'nothing';
      if (error !== undefined && (wasThrottled(error) || isOfDatabase(error))) return 'nothing';
      if (!isFailure) return error === undefined || error instanceof ConnectorError ? 'success' : 'nothing';
      return error instanceof ConnectorError && error.kind !== 'rejected' ? 'silence' : 'fault';
    };
    /** Without the connector, which opening makes, no request can succeed. */
    const isFault = (error: unknown) => {
      if (!(error instanceof ConnectorError)) return isFaultStatus(facts.lastStatus);
      return operation === 'open' || isFaultOfEhr(error, facts.lastStatus);
    };
    const guarded = async () => {
      try {
        const result = await breaker.run(operation, inTime, judge, circuitOpen);
        if (judge(undefined) === 'nothing') {
          if (isFailing) answeredFromMemoryAt = new Date();
        } else {
          if (operation !== 'open') lastSuccessAt = new Date();
          isFailing = false;
          answeredFromMemoryAt = undefined;
          observe('ok');
        }
        return result;
      } catch (error) {
        const verdict = judge(error);
        isFailing ||= verdict === 'silence' || verdict === 'fault';
        // The circuit breaker judges the error as it was: a read that is rejected after a write is no failure of the EHR.
        const told = writes.includes(operation) ? facts.writes.errorOf(error) : error;
        const outcome = wasThrottled(error) ? 'throttled' : outcomeOf(told);
        observe(outcome === 'rejected' && verdict === 'fault' ? 'fault' : outcome, told);
        throw told;
      }
    };
    const { clientId, lastCheck } = currentContext();
    const assertNotPaused = () => {
      const error = paused();
      if (!error) return;
      observe('paused');
      throw error;
    };
    // Checked before and after the queue, so that no call waits for an EHR that is paused or whose circuit breaker is open.
    const work = async () => {
      assertNotPaused();
      // A call without a check starts in this turn of the event loop.
      if (lastCheck) await lastCheck();
      const result = await guarded();
      await afterwards(result);
      return result;
    };
    const notMade = (error: NotMade) => {
      observe(error.outcome, error);
      return error;
    };
    assertNotPaused();
    breaker.assertPasses(operation, (seconds) => notMade(circuitOpen(seconds)));
    return turns(clientId, work, () => notMade(busy()));
  }

  return {
    run: (operation, call) => run(operation, call),
    stream<Result extends Streamed | null>(operation: GuardedOperation, call: () => Promise<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      run(operation, call, async (result) => {
        if (result === null) return resolve(result);
        const source = result.size === null ? result.chunks : exactSize(result.chunks, result.size);
        const { chunks, ended } = limitStream(source, settings.streams);
        resolve({ ...result, chunks });
        await ended;
      }).catch(reject);
      return promise;
    },
    health: () => ({ breaker: breaker.state(), lastSuccessAt, answeredFromMemoryAt, pause: paused()?.pause }),
    paused,
    isIdle: turns.isIdle,
  };
}

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof NotMade) return error.outcome;
  if (error instanceof Paused) return 'paused';
  if (error instanceof Throttled) return 'throttled';
  if (isOfDatabase(error)) return 'database';
  return error instanceof ConnectorError ? error.kind : 'error';
}

const writes: readonly GuardedOperation[] = writeOperations;

/** @param waitsForDatabase whether the connector keeps its records in the gateway's database, and that does not answer */
function late(operation: GuardedOperation, waitsForDatabase: boolean): ConnectorError {
  const kind = writes.includes(operation) ? 'outcome_unknown' : 'timeout';
  return waitsForDatabase
    ? new ConnectorError(kind, 'The database did not answer in time', { cause: databaseSilent() })
    : new ConnectorError(kind, 'The call to the EHR timed out');
}

/** A write in which a request timed out may have been made, whichever request it was. */
function unknownIfSilent(operation: GuardedOperation) {
  return (error: unknown): never => {
    if (writes.includes(operation) && error instanceof ConnectorError && silences.includes(error.kind)) {
      throw new ConnectorError('outcome_unknown', error.message, { cause: error });
    }
    throw error;
  };
}
