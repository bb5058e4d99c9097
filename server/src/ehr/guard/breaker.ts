interface BreakerSettings {
  /** Consecutive failures after which the breaker opens. */
  readonly failures: number;
  readonly resetSeconds: number;
  /** The seconds of the `Retry-After` with which a call failed, if any. */
  askedToWait(error: unknown): number | undefined;
  /** @param error with which the call ended that changed the state, if it ended with one */
  onChange(state: BreakerState, error?: unknown): void;
}

/** What a call says about the EHR. */
export type Verdict = 'success' | 'failure' | 'nothing';
/** Judges a call by its error. `undefined`: it had a result. */
export type Judge = (error: unknown) => Verdict;

/** `half_open`: one call is testing the EHR, or the next one will. */
export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];

export interface Breaker {
  state(): BreakerState;
  /** @throws the error made by `rejected` from the seconds to wait, if the circuit breaker is open */
  assertPasses(rejected: (seconds: number) => Error): void;
  run<Result>(work: () => Promise<Result>, judge: Judge, rejected: (seconds: number) => Error): Promise<Result>;
}

const longestWaitSeconds = 300;
/** Seconds to wait while another call is testing the EHR. */
const trialSeconds = 1;

/**
 * https://learn.microsoft.com/en-us/azure/architecture/patterns/circuit-breaker. A call of its own, because libraries count
 * each call as a success or a failure: one that says nothing about the EHR must neither close the breaker nor open it.
 */
export function createBreaker(settings: BreakerSettings): Breaker {
  let failures = 0;
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

  function assertPasses(rejected: (seconds: number) => Error): void {
    if (isTesting) throw rejected(trialSeconds);
    if (state() === 'open') throw rejected(Math.ceil(((openUntil ?? 0) - Date.now()) / 1000));
  }

  function open(error: unknown): void {
    const asked = settings.askedToWait(error) ?? 0;
    const seconds = Math.max(settings.resetSeconds, Math.min(asked, longestWaitSeconds));
    openUntil = Date.now() + seconds * 1000;
  }

  function count(verdict: Verdict, isTest: boolean, error: unknown): void {
    if (verdict === 'failure') {
      failures++;
      // Calls that began before the breaker opened do not keep it open for longer.
      if (isTest || (openUntil === null && failures >= settings.failures)) open(error);
    } else if (verdict === 'success' && (isTest || openUntil === null)) {
      failures = 0;
      openUntil = null;
    }
  }

  return {
    state,
    assertPasses,
    async run(work, judge, rejected) {
      assertPasses(rejected);
      const isTest = openUntil !== null;
      isTesting ||= isTest;
      tell();
      const ended = (verdict: Verdict, error?: unknown) => {
        if (isTest) isTesting = false;
        count(verdict, isTest, error);
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
