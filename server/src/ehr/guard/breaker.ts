import { CircuitState, ConsecutiveBreaker, circuitBreaker, DelegateBackoff, handleWhen } from 'cockatiel';

interface BreakerSettings {
  /** Consecutive failures after which the breaker opens. */
  readonly failures: number;
  readonly resetSeconds: number;
  /** Whether an error counts as a failure of the EHR, and the seconds of its `Retry-After`, if any. */
  isFailure(error: unknown): boolean;
  askedToWait(error: unknown): number | undefined;
  onChange(state: BreakerState): void;
}

/** `half_open`: one call is testing the EHR, or the next one will. */
export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];

export interface Breaker {
  state(): BreakerState;
  /** @throws the error made by `rejected` from the seconds to wait, if the circuit breaker is open */
  assertPasses(rejected: (seconds: number) => Error): void;
  run<Result>(work: () => Promise<Result>, rejected: (seconds: number) => Error): Promise<Result>;
}

const longestWaitSeconds = 300;
/** Seconds to wait while another call is testing the EHR. */
const trialSeconds = 1;

/** https://learn.microsoft.com/en-us/azure/architecture/patterns/circuit-breaker */
export function createBreaker(settings: BreakerSettings): Breaker {
  let openUntil = 0;
  const policy = circuitBreaker(handleWhen(settings.isFailure), {
    breaker: new ConsecutiveBreaker(settings.failures),
    halfOpenAfter: new DelegateBackoff(({ result }) => {
      const asked = 'error' in result ? (settings.askedToWait(result.error) ?? 0) : 0;
      const milliseconds = Math.max(settings.resetSeconds, Math.min(asked, longestWaitSeconds)) * 1000;
      openUntil = Date.now() + milliseconds;
      return milliseconds;
    }),
  });
  policy.onStateChange(() => settings.onChange(state()));

  function state(): BreakerState {
    if (policy.state === CircuitState.Closed) return 'closed';
    return policy.state === CircuitState.Open && Date.now() < openUntil ? 'open' : 'half_open';
  }

  function assertPasses(rejected: (seconds: number) => Error): void {
    if (policy.state === CircuitState.HalfOpen) throw rejected(trialSeconds);
    if (state() === 'open') throw rejected(Math.ceil((openUntil - Date.now()) / 1000));
  }

  return {
    state,
    assertPasses,
    async run(work, rejected) {
      // The policy itself would make calls wait for the result of the test call.
      assertPasses(rejected);
      const outcome = await policy.execute(() => settled(work, settings.isFailure));
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
  };
}

/** Counts only failures of the EHR itself. An EHR that rejects a request is healthy. */
async function settled<Result>(
  work: () => Promise<Result>,
  isFailure: (error: unknown) => boolean,
): Promise<{ readonly value: Result } | { readonly error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (isFailure(error)) throw error;
    return { error };
  }
}
