import { type Connector, ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';

interface PlannedFailure {
  readonly error: ConnectorError;
  /** Whether to fail after the write. Otherwise it fails before. */
  readonly after: boolean;
  /** Delays the response until this promise resolves. */
  readonly respondAfter?: Promise<void> | undefined;
}

interface FailureOptions {
  readonly after?: boolean;
  readonly retryAfterSeconds?: number;
  readonly respondAfter?: Promise<void>;
}

export interface FailableWrites {
  /** Number of calls of `changeAppointments`. Reset by each new failure. */
  calls: number;
  /** Which of the next calls fails, counted from 1. */
  fail(call: number, kind: ConnectorErrorKind, options?: FailureOptions): void;
  stopFailing(): void;
  /** Resets everything. Call before each test. */
  reset(): void;
  failable(connector: Connector): Connector;
}

/** Wraps a connector so that a test can make writes fail. */
export function failableWrites(): FailableWrites {
  const failing = new Map<number, PlannedFailure>();
  const writes: FailableWrites = {
    calls: 0,
    fail(call, kind, { after = false, respondAfter, ...options } = {}) {
      writes.calls = 0;
      failing.set(call, { error: new ConnectorError(kind, 'Simulated failure', options), after, respondAfter });
    },
    stopFailing() {
      failing.clear();
    },
    reset() {
      writes.stopFailing();
      writes.calls = 0;
    },
    failable(connector) {
      const { changeAppointments } = connector;
      if (!changeAppointments) throw new Error('The EHR supports no changes');
      return {
        ...connector,
        async changeAppointments(write) {
          writes.calls += 1;
          const failure = failing.get(writes.calls);
          if (!failure) return changeAppointments(write);
          if (failure.after) await changeAppointments(write);
          await failure.respondAfter;
          throw failure.error;
        },
      };
    },
  };
  return writes;
}
