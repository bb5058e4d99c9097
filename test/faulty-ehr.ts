import {
  type AppointmentWrite,
  type ChangeKind,
  type Connector,
  ConnectorError,
  type ConnectorErrorKind,
  type ConnectorOperation,
} from '@crossward/connector-kit';

/** Which write a fault is for. Those with releases alone are the gateway's own doing, and are spared unless named. */
interface Which {
  /** Only writes with such a change. */
  readonly kind?: ChangeKind;
  /** So many of them pass before it. Default 0. */
  readonly after?: number;
}

/** A write that the EHR does when nobody waits for it any more. */
export interface LateWrite {
  /** Whether the EHR has been given it, and its caller has been told that nobody knows. */
  isGiven(): boolean;
  /** The EHR does it now. Rejects when the EHR does not do it any more. */
  finish(): Promise<void>;
}

/** One EHR that fails as the test wants it. Each fault is for one write. */
export interface FaultyEhr {
  /** Does the write or does not do it; its answer is lost, and every further call is refused until `comeBack`. */
  leaveDuring(fault: Which & { readonly isDone: boolean }): void;
  /** Does the write or does not do it, and its answer is lost. */
  loseAnswer(fault: Which & { readonly isDone: boolean }): void;
  /** Answers that nobody knows, and does the write when the test says so. */
  finishLate(which?: Which): LateWrite;
  /** Refuses the write, once `meanwhile` has happened. */
  refuse(kind: ConnectorErrorKind, options?: Which & { meanwhile?(): Promise<unknown> }): void;
  /** Does the write, and answers once `meanwhile` has happened. */
  afterWrite(meanwhile: () => void, which?: Which): void;
  /** Every call of an operation waits, with no answer, until the gate opens. */
  hang(operation: ConnectorOperation, gate: Promise<void>): void;
  /** Every call of an operation is refused. */
  refuseAlways(operation: ConnectorOperation, kind: ConnectorErrorKind): void;
  /** Every call is refused as `unavailable`. */
  leave(): void;
  comeBack(): void;
  /** How many calls were refused while it was away. */
  readonly refused: number;
  /** How many calls wait at a gate. */
  readonly hanging: number;
  /** When it was asked what became of a write, and showed nothing: milliseconds as of `Date.now()` at the question. */
  readonly vainLookUps: readonly number[];
  /** For before each test: everything is well, and nothing has been counted. */
  reset(): void;
}

export interface FaultyEhrs {
  /** By the connection's id. */
  of(emr: string): FaultyEhr;
  /** For `anotherConnector`. What it stands for is innermost: other wrappers come around it. */
  faulty(connector: Connector, emr: string): Connector;
  reset(): void;
}

type Call = () => Promise<unknown>;
interface Fault {
  readonly kind: ChangeKind | undefined;
  after: number;
  play(write: Call): Promise<unknown>;
}

/**
 * EHRs with the failures that last: one that stays away after it has lost an answer, one that finishes late, and one
 * that hangs. For any connector.
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
  const refusals = new Map<ConnectorOperation, ConnectorErrorKind>();
  const vainLookUps: number[] = [];
  let isAway = false;
  let refused = 0;
  let hanging = 0;

  function add(play: Fault['play'], { kind, after = 0 }: Which = {}): void {
    faults.push({ kind, after, play });
  }

  function faultFor({ changes }: AppointmentWrite): Fault | undefined {
    const fits = (fault: Fault) => changes.some(({ kind }) => (fault.kind ? kind === fault.kind : kind !== 'release'));
    const fault = faults.find(fits);
    if (!fault) return undefined;
    fault.after -= 1;
    if (fault.after >= 0) return undefined;
    faults.splice(faults.indexOf(fault), 1);
    return fault;
  }

  async function intercept(operation: ConnectorOperation, input: readonly unknown[], call: Call): Promise<unknown> {
    if (isAway) {
      refused += 1;
      throw error('unavailable');
    }
    const gate = gates.get(operation);
    if (gate) {
      hanging += 1;
      await gate.finally(() => {
        hanging -= 1;
      });
    }
    const refusal = refusals.get(operation);
    if (refusal) throw error(refusal);
    if (operation === 'changeAppointments') {
      const fault = faultFor(input[0] as AppointmentWrite);
      return fault ? fault.play(call) : call();
    }
    const firstSentAt = Date.now();
    const answer = await call();
    if (operation === 'findOperation' && answer === null) vainLookUps.push(firstSentAt);
    return answer;
  }

  async function lose(isDone: boolean, write: Call): Promise<never> {
    if (isDone) await write();
    throw error('outcome_unknown');
  }

  const controls: FaultyEhr = {
    leaveDuring({ isDone, ...which }) {
      add((write) => {
        const lost = lose(isDone, write);
        isAway = true;
        return lost;
      }, which);
    },
    loseAnswer({ isDone, ...which }) {
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
          if (!given) throw new Error('The EHR has not been given the write yet');
          await given();
        },
      };
    },
    refuse(kind, { meanwhile, ...which } = {}) {
      add(async () => {
        await meanwhile?.();
        throw error(kind);
      }, which);
    },
    afterWrite(meanwhile, which) {
      add(async (write) => {
        const answer = await write();
        meanwhile();
        return answer;
      }, which);
    },
    hang: (operation, gate) => void gates.set(operation, gate),
    refuseAlways: (operation, kind) => void refusals.set(operation, kind),
    leave() {
      isAway = true;
    },
    comeBack() {
      isAway = false;
    },
    get refused() {
      return refused;
    },
    get hanging() {
      return hanging;
    },
    vainLookUps,
    reset() {
      faults.splice(0);
      gates.clear();
      refusals.clear();
      vainLookUps.splice(0);
      isAway = false;
      refused = 0;
    },
  };
  return { controls, intercept };
}

function error(kind: ConnectorErrorKind): ConnectorError {
  return new ConnectorError(kind, 'As the test wants it');
}
