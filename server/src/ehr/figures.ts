import type { EhrConnection } from './connection.ts';
import type { BreakerState } from './guard/breaker.ts';
import { type CallHistory, type MergedMinute, type MinuteOfCalls, mergeMinutes } from './guard/call-history.ts';

/** What one process knows about an EHR. Plain data, so that processes can exchange it. */
export interface EhrFigures {
  /** `not_connected`: the connection has not been opened yet. */
  readonly state: BreakerState | 'not_connected';
  /** Milliseconds since 1970. `null`: no call has succeeded yet. */
  readonly lastSuccessAt: number | null;
  readonly minutes: readonly MinuteOfCalls[];
}

/** What one process knows about its EHRs. Key: the id of the EHR. */
export type ProcessFigures = Readonly<Record<string, EhrFigures>>;

/** What the processes of a gateway know about the EHRs. */
export interface GatewayFigures {
  /** Number of workers. `undefined`: the gateway is one process. */
  readonly workers?: number;
  /** One entry for each process that has responded in time. */
  readonly processes: readonly ProcessFigures[];
}

/** Reads the figures of all processes of this gateway. */
export interface FiguresSource {
  read(): Promise<GatewayFigures>;
}

/** What several processes know about an EHR. */
export interface MergedFigures {
  /** Number of processes in each state that at least one is in. */
  readonly states: ReadonlyMap<EhrFigures['state'], number>;
  readonly lastSuccessAt: number | null;
  readonly minutes: readonly MergedMinute[];
}

/** The figures of this process. */
export function readFigures(ehrs: Iterable<EhrConnection>, history: CallHistory): ProcessFigures {
  const figuresOf = (ehr: EhrConnection): EhrFigures => {
    const { breaker, lastSuccessAt } = ehr.health();
    return {
      state: ehr.isOpen ? breaker : 'not_connected',
      lastSuccessAt: lastSuccessAt?.getTime() ?? null,
      minutes: history.of(ehr.id),
    };
  };
  return Object.fromEntries([...ehrs].map((ehr) => [ehr.id, figuresOf(ehr)]));
}

/** Adds up what processes know about one EHR. */
export function mergeFigures(processes: readonly ProcessFigures[], emr: string): MergedFigures {
  const known = processes.flatMap((figures) => figures[emr] ?? []);
  const groups = Map.groupBy(known, ({ state }) => state);
  const successes = known.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
  return {
    states: new Map([...groups].map(([state, { length }]) => [state, length])),
    lastSuccessAt: successes.length > 0 ? Math.max(...successes) : null,
    minutes: mergeMinutes(known.map(({ minutes }) => minutes)),
  };
}
