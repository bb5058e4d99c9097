import {
  type AppointmentWrite,
  type ChangeKind,
  type Connector,
  ConnectorError,
  type ConnectorErrorKind,
  type ConnectorOperation,
} from '@crossward/connector-kit';

/** Selects the write to fail. Writes with only releases come from the gateway itself and are skipped unless named. */
interface Which {
  /** The operation of the write. Default: `changeAppointments`. */
  readonly operation?: ConnectorOperation;
  /** Only writes with such a change. */
  readonly kind?: ChangeKind;
  /** Number of matching writes to let pass first. Default: 0. */
  readonly after?: number;
}

/** A write that the EHR makes after its caller has stopped waiting. */
export interface LateWrite {
  /** Whether the EHR has received the write and its caller got `outcome_unknown`. */
  isGiven(): boolean;
  /** Makes the write now. Rejects if the EHR rejects it. */
  finish(): Promise<void>;
}

/** Faults of one EHR. Each fault applies to one write. */
export interface FaultyEhr {
  /** Makes the write or not, loses the response, and is unavailable until `comeUp`. */
  goDownDuring(fault: Which & { readonly isDone: boolean }): void;
  /** Makes the write or not, and loses the response. */
  loseResponse(fault: Which & { readonly isDone: boolean }): void;
  /** Throws `outcome_unknown`, and makes the write when the test decides. */
  finishLate(which?: Which): LateWrite;
  /** Runs `meanwhile`, then rejects the write. */
  failNext(kind: ConnectorErrorKind, options?: Which & { meanwhile?(): Promise<unknown> }): void;
  /** Makes the write, runs `meanwhile`, then responds. */
  afterWrite(meanwhile: () => void, which?: Which): void;
  /** Blocks every call of an operation until the gate opens. */
  hang(operation: ConnectorOperation, gate: Promise<void>): void;
  /** Rejects every call of an operation. */
  failAlways(operation: ConnectorOperation, kind: ConnectorErrorKind): void;
  /** Rejects every call with `unavailable` until `comeUp`. */
  goDown(): void;
  comeUp(): void;
  /** Number of calls rejected while unavailable. */
  readonly rejectedCalls: number;
  /** Number of calls blocked at a gate. */
  readonly hanging: number;
  /** Times of look-ups that did not find the write, in milliseconds of `Date.now()`. */
  readonly emptyLookUps: readonly number[];
  /** Removes all faults and resets all counters. Call before each test. */
  reset(): void;
}

export interface FaultyEhrs {
  /** By the connection's id. */
  of(emr: string): FaultyEhr;
  /** For `wrapConnector`. Must be the innermost wrapper. */
  faulty(connector: Connector, emr: string): Connector;
  reset(): void;
}

type Call = () => Promise<unknown>;
interface Fault {
  readonly operation: ConnectorOperation;
  readonly kind: ChangeKind | undefined;
  after: number;
  play(write: Call): Promise<unknown>;
}

/**
 * Simulates lasting failures for any connector: an EHR that stays unavailable after a lost response, one that finishes
 * late, and one that hangs.
 */
export function faultyEhrs(): FaultyEhrs {
  const ehrs = new Map<string, ReturnType<typeof faultyEhr>>();
  const of = (emr: string) => {
    const ehr = ehrs.get(emr) ?? faultyEhr();
    ehrs.set(emr, ehr);
    return ehr;
  };
  return {
    of: (emr) => of(emr).controls,
    faulty(connector, emr) {
      const { intercept } = of(emr);
      const members = Object.entries(connector).map(([name, member]) => [
        name,
        typeof member === 'function'
          ? (...input: unknown[]) => intercept(name as ConnectorOperation, input, () => member(...input))
          : member,
      ]);
      return Object.fromEntries(members) as Connector;
    },
    reset() {
      for (const { controls } of ehrs.values()) controls.reset();
    },
  };
}

function faultyEhr() {
  const faults: Fault[] = [];
  const gates = new Map<ConnectorOperation, Promise<void>>();
  const failures = new Map<ConnectorOperation, ConnectorErrorKind>();
  const emptyLookUps: number[] = [];
  let isUnavailable = false;
  let rejectedCalls = 0;
  let hanging = 0;

  function add(play: Fault['play'], { operation = 'changeAppointments', kind, after = 0 }: Which = {}): void {
    faults.push({ operation, kind, after, play });
  }

  function faultFor(operation: ConnectorOperation, input: readonly unknown[]): Fault | undefined {
    const changes = operation === 'changeAppointments' ? (input[0] as AppointmentWrite).changes : undefined;
    const fits = (fault: Fault) =>
      fault.operation === operation &&
      (changes?.some(({ kind }) => (fault.kind ? kind === fault.kind : kind !== 'release')) ?? true);
    const fault = faults.find(fits);
    if (!fault) return undefined;
    fault.after -= 1;
    if (fault.after >= 0) return undefined;
    faults.splice(faults.indexOf(fault), 1);
    return fault;
  }

  async function intercept(operation: ConnectorOperation, input: readonly unknown[], call: Call): Promise<unknown> {
    if (isUnavailable) {
      rejectedCalls += 1;
      throw error('unavailable');
    }
    const gate = gates.get(operation);
    if (gate) {
      hanging += 1;
      await gate.finally(() => {
        hanging -= 1;
      });
    }
    const failure = failures.get(operation);
    if (failure) throw error(failure);
    const fault = faultFor(operation, input);
    if (fault) return fault.play(call);
    const firstSentAt = Date.now();
    const response = await call();
    if (/^find(Operation|.*Write)$/.test(operation) && response === null) emptyLookUps.push(firstSentAt);
    return response;
  }

  async function lose(isDone: boolean, write: Call): Promise<never> {
    if (isDone) await write();
    throw error('outcome_unknown');
  }

  const controls: FaultyEhr = {
    goDownDuring({ isDone, ...which }) {
      add((write) => {
        const lost = lose(isDone, write);
        isUnavailable = true;
        return lost;
      }, which);
    },
    loseResponse({ isDone, ...which }) {
      add((write) => lose(isDone, write), which);
    },
    finishLate(which) {
      let given: Call | undefined;
      add((write) => {
        given = write;
        return lose(false, write);
      }, which);
      return {
        isGiven: () => given !== undefined,
        async finish() {
          if (!given) throw new Error('The EHR has not received the write yet');
          await given();
        },
      };
    },
    failNext(kind, { meanwhile, ...which } = {}) {
      add(async () => {
        await meanwhile?.();
        throw error(kind);
      }, which);
    },
    afterWrite(meanwhile, which) {
      add(async (write) => {
        const response = await write();
        meanwhile();
        return response;
      }, which);
    },
    hang: (operation, gate) => void gates.set(operation, gate),
    failAlways: (operation, kind) => void failures.set(operation, kind),
    goDown() {
      isUnavailable = true;
    },
    comeUp() {
      isUnavailable = false;
    },
    get rejectedCalls() {
      return rejectedCalls;
    },
    get hanging() {
      return hanging;
    },
    emptyLookUps,
    reset() {
      faults.splice(0);
      gates.clear();
      failures.clear();
      emptyLookUps.splice(0);
      isUnavailable = false;
      rejectedCalls = 0;
    },
  };
  return { controls, intercept };
}

function error(kind: ConnectorErrorKind): ConnectorError {
  return new ConnectorError(kind, 'Simulated failure');
}
