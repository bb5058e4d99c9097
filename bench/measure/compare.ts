import { type Load, type Round, runRound } from './load.ts';
import type { Postgres } from './postgres.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface Comparison {
  /** The medians of the rounds. */
  readonly ours: Round;
  readonly yardstick: Round;
  /** Requests per second ÷ the yardstick's, round by round. */
  readonly throughput: Spread;
}

const warmUpSeconds = 2;
const roundSeconds = 1;
const rounds = 5;

/** Alternates short rounds, so that a change of the machine's speed affects both. */
export async function compare(postgres: Postgres, ours: Load, yardstick: Load): Promise<Comparison> {
  for (const load of [yardstick, ours]) await runRound(postgres, load, warmUpSeconds);
  const pairs: { readonly ours: Round; readonly yardstick: Round }[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    pairs.push({
      yardstick: await runRound(postgres, yardstick, roundSeconds),
      ours: await runRound(postgres, ours, roundSeconds),
    });
  }
  return {
    ours: medianRound(pairs.map((pair) => pair.ours)),
    yardstick: medianRound(pairs.map((pair) => pair.yardstick)),
    throughput: spread(pairs.map((pair) => pair.ours.perSecond / pair.yardstick.perSecond)),
  };
}

function medianRound(rounds: readonly Round[]): Round {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  return {
    perSecond: of('perSecond'),
    p50: of('p50'),
    cpu: of('cpu'),
    databaseCpu: of('databaseCpu'),
    statements: of('statements'),
    commits: of('commits'),
  };
}
