import { type Connector, ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';

interface Trouble {
  readonly error: ConnectorError;
  /** Whether to fail after the write. Otherwise it fails before. */
  readonly after: boolean;
  /** Delays the response until this promise resolves. */
  readonly silentUntil?: Promise<void> | undefined;
}

interface FailureOptions {
  readonly after?: boolean;
  readonly retryAfterSeconds?: number;
  readonly silentUntil?: Promise<void>;
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
  const failing = new Map<number, Trouble>();
  const writes: FailableWrites = {
    calls: 0,
    fail(call, kind, { after = false, silentUntil, ...options } = {}) {
      writes.calls = 0;
      failing.set(call, { error: new ConnectorError(kind, 'As the test wants it', options), after, silentUntil });
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
      if (!changeAppointments) throw new Error('The EHR takes no changes');
      return {
        ...connector,
        async changeAppointments(write) {
          writes.calls += 1;
          const trouble = failing.get(writes.calls);
          if (!trouble) return changeAppointments(write);
          if (trouble.after) await changeAppointments(write);
          await trouble.silentUntil;
          throw trouble.error;
        },
      };
    },
  };
  return writes;
}
