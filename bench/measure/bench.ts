import type { Postgres } from './postgres.ts';
import type { Round } from './round.ts';
import type { Spread } from './statistics.ts';

/** A line of the table. */
export interface Result {
  readonly name: string;
  /** What `value` is, such as `requests per second ÷ one SELECT`. */
  readonly measure: string;
  /** One value if it was measured once. */
  readonly value: number | Spread;
  /** Absent: the line only informs. */
  readonly reach?: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  /** Further figures by name. */
  readonly details: Readonly<Record<string, number>>;
}

export interface Bench {
  readonly name: string;
  run(postgres: Postgres): Promise<readonly Result[]>;
}

/** The value, or the median of its rounds. */
export function medianOf({ value }: Result): number {
  return typeof value === 'number' ? value : value.median;
}

/** `undefined`: there is nothing to reach. */
export function isReached(result: Result): boolean | undefined {
  const { reach } = result;
  if (!reach) return undefined;
  return 'atLeast' in reach ? medianOf(result) >= reach.atLeast : medianOf(result) <= reach.atMost;
}

/** The figures of a round as details of a line. */
export function detailsOf(ours: Round, yardstick: Round): Result['details'] {
  return {
    'requests/s': ours.perSecond,
    'yardstick requests/s': yardstick.perSecond,
    'p50 ms': ours.p50,
    'yardstick p50 ms': yardstick.p50,
    'gateway CPU ms': ours.cpu,
    'yardstick CPU ms': yardstick.cpu,
    'database CPU ms': ours.databaseCpu,
    'yardstick database CPU ms': yardstick.databaseCpu,
    statements: ours.statements,
    commits: ours.commits,
    ...(yardstick.refused > 0 && { 'refused by the yardstick': yardstick.refused }),
    ...(ours.refused > 0 && { refused: ours.refused }),
  };
}
