import type { EhrConnection } from './connection.ts';
import type { BreakerState } from './guard/breaker.ts';
import type { CallHistory, CallsOfOperation, FailedCall, MinuteOfCalls } from './guard/call-history.ts';
import type { Pause } from './pauses.ts';

/** What this process knows about an EHR. */
export interface EhrFigures {
  /** `not_connected`: the connection has not been opened yet. `paused`: by operators, see `pause`. */
  readonly state: BreakerState | 'not_connected' | 'paused';
  readonly pause: Pause | undefined;
  /** `null`: no call has succeeded yet. */
  readonly lastSuccessAt: Date | null;
  /** Set while the EHR fails: when a call was last answered from memory. */
  readonly answeredFromMemoryAt: Date | undefined;
  /** The last sixty, the oldest first. */
  readonly minutes: readonly MinuteOfCalls[];
  /** Calls of these minutes by method of the port, the most frequent first. */
  readonly operations: readonly CallsOfOperation[];
  /** The last twenty, the newest first, with the cause of each. Also those that opened the connection, named `open`. */
  readonly failedCalls: readonly FailedCall[];
}

/** Reads what this process knows about an EHR. */
export type ReadFigures = (ehr: EhrConnection) => EhrFigures;

export function figuresFrom(history: CallHistory): ReadFigures {
  return (ehr) => {
    const { breaker, lastSuccessAt, answeredFromMemoryAt, pause } = ehr.health();
    return {
      state: pause ? 'paused' : ehr.isOpen ? breaker : 'not_connected',
      pause,
      lastSuccessAt: lastSuccessAt ?? null,
      answeredFromMemoryAt,
      minutes: history.of(ehr.id),
      operations: history.operations(ehr.id),
      failedCalls: history.failed(ehr.id),
    };
  };
}
