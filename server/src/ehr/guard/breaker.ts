import { CircuitState, ConsecutiveBreaker, circuitBreaker, DelegateBackoff, handleWhen } from 'cockatiel';

interface BreakerSettings {
  /** In a row. */
  readonly failures: number;
  readonly resetSeconds: number;
  /** Whether an error says that the EHR is not well, and for how many seconds it asked to be left alone. */
  isFailure(error: unknown): boolean;
  askedToWait(error: unknown): number | undefined;
  onChange(state: BreakerState): void;
}

/** `half_open`: one call tries whether the EHR is back, or the next one will. */
export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];

export interface Breaker {
  state(): BreakerState;
  /** @throws what `refused` makes of the seconds to wait, when no call is let through */
  assertPasses(refused: (seconds: number) => Error): void;
  run<Result>(work: () => Promise<Result>, refused: (seconds: number) => Error): Promise<Result>;
}

const longestWaitSeconds = 300;
/** While another call tries whether the EHR is back. */
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

  function assertPasses(refused: (seconds: number) => Error): void {
    if (policy.state === CircuitState.HalfOpen) throw refused(trialSeconds);
    if (state() === 'open') throw refused(Math.ceil((openUntil - Date.now()) / 1000));
  }

  return {
    state,
    assertPasses,
    async run(work, refused) {
      // The policy itself would let calls wait for the outcome of the trial.
      assertPasses(refused);
      const outcome = await policy.execute(() => settled(work, settings.isFailure));
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
  };
}

/** An EHR that says no is well: to the breaker, only a failure of the EHR itself is an error. */
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
