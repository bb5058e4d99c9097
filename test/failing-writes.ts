import { type Connector, ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';

interface Trouble {
  readonly error: ConnectorError;
  /** Once it is done; otherwise before anything is. */
  readonly after: boolean;
  /** Until then there is no answer. */
  readonly silentUntil?: Promise<void> | undefined;
}

interface FailureOptions {
  readonly after?: boolean;
  readonly retryAfterSeconds?: number;
  readonly silentUntil?: Promise<void>;
}

export interface FailableWrites {
  /** How often `changeAppointments` was called. A new failure counts anew. */
  calls: number;
  /** Which of the next calls fails, counted from 1. */
  fail(call: number, kind: ConnectorErrorKind, options?: FailureOptions): void;
  stopFailing(): void;
  /** For before each test. */
  reset(): void;
  failable(connector: Connector): Connector;
}

/** Writes to EHRs that fail when the test wants it. */
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
