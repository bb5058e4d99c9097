interface BreakerSettings {
  /** Consecutive failures after which the breaker opens. */
  readonly failures: number;
  readonly resetSeconds: number;
  /** The seconds of the `Retry-After` with which a call failed, if any. */
  askedToWait(error: unknown): number | undefined;
  /** @param error with which the call ended that changed the state, if it ended with one */
  onChange(state: BreakerState, error?: unknown): void;
}

/** What a call says about the EHR. `silence`: it did not answer. `fault`: it answered, and is out of order. */
export type Verdict = 'success' | 'silence' | 'fault' | 'nothing';
/** Judges a call by its error. `undefined`: it had a result. */
export type Judge = (error: unknown) => Verdict;

/** `half_open`: one call is testing the EHR, or the next one will. */
export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];

export interface Breaker {
  state(): BreakerState;
  /** @throws the error made by `rejected` from the seconds to wait, if the circuit breaker is open */
  assertPasses(operation: string, rejected: (seconds: number) => Error): void;
  run<Result>(
    operation: string,
    work: () => Promise<Result>,
    judge: Judge,
    rejected: (seconds: number) => Error,
  ): Promise<Result>;
}

const longestWaitSeconds = 300;
/** Seconds to wait while another call is testing the EHR. */
const trialSeconds = 1;
/** Fewer failures than the setting are enough if there was nothing else for so long. */
const longestFailingMs = 60_000;
/** An EHR that has served a call so recently answers some calls with faults, and serves others. */
const servesMs = 10_000;

/**
 * An EHR that answers can be out of order for one method alone. So faults do not open the breaker while other calls succeed;
 * and when they have opened it, a method that has not failed since the last success tests the EHR without waiting. An
 * EHR that is silent gets no call but the test.
 *
 * https://learn.microsoft.com/en-us/azure/architecture/patterns/circuit-breaker. A call of its own, because libraries count
 * each call as a success or a failure: one that says nothing about the EHR must neither close the breaker nor open it.
 */
export function createBreaker(settings: BreakerSettings): Breaker {
  let failures = 0;
  /** Since the last success. */
  let firstFailureAt = 0;
  let wasSilent = false;
  const failed = new Set<string>();
  let lastSuccessAt = Number.NEGATIVE_INFINITY;
  /** `null`: closed. */
  let openUntil: number | null = null;
  let isTesting = false;
  let told: BreakerState = 'closed';

  function state(): BreakerState {
    if (openUntil === null) return 'closed';
    return !isTesting && Date.now() < openUntil ? 'open' : 'half_open';
  }

  function tell(error?: unknown): void {
    const now = state();
    if (now === told) return;
    told = now;
    settings.onChange(now, error);
  }

  function assertPasses(operation: string, rejected: (seconds: number) => Error): void {
    if (isTesting) throw rejected(trialSeconds);
    if (state() !== 'open' || (!wasSilent && !failed.has(operation))) return;
    throw rejected(Math.ceil(((openUntil ?? 0) - Date.now()) / 1000));
  }

  function open(error: unknown): void {
    const asked = settings.askedToWait(error) ?? 0;
    const seconds = Math.max(settings.resetSeconds, Math.min(asked, longestWaitSeconds));
    openUntil = Date.now() + seconds * 1000;
  }

  function isEnough(): boolean {
    const now = Date.now();
    const lasts = failures > 1 && now - firstFailureAt >= longestFailingMs;
    return (failures >= settings.failures || lasts) && (wasSilent || now - lastSuccessAt >= servesMs);
  }

  function count(operation: string, verdict: Verdict, isTest: boolean, error: unknown): void {
    if (verdict === 'silence' || verdict === 'fault') {
      if (failures === 0) firstFailureAt = Date.now();
      failures++;
      wasSilent ||= verdict === 'silence';
      failed.add(operation);
      // Calls that began before the breaker opened do not keep it open for longer, nor do tests that did not wait.
      if (openUntil === null ? isEnough() : isTest && Date.now() >= openUntil) open(error);
    } else if (verdict === 'success' && (isTest || openUntil === null)) {
      failures = 0;
      wasSilent = false;
      failed.clear();
      lastSuccessAt = Date.now();
      openUntil = null;
    }
  }

  return {
    state,
    assertPasses,
    run(operation, work, judge, rejected) {
      assertPasses(operation, rejected);
      const isTest = openUntil !== null;
      isTesting ||= isTest;
      tell();
      const ended = (verdict: Verdict, error?: unknown) => {
        if (isTest) isTesting = false;
        count(operation, verdict, isTest, error);
        tell(error);
      };
      return work().then(
        (result) => {
          ended(judge(undefined));
          return result;
        },
        (error: unknown) => {
          ended(judge(error), error);
          throw error;
        },
      );
    },
  };
}
