import type { Load } from './load.ts';
import type { Postgres } from './postgres.ts';
import { type Length, medianRound, type Round, runRound } from './round.ts';
import { type Spread, spread } from './statistics.ts';

export interface Comparison {
  /** The medians of the rounds. */
  readonly ours: Round;
  readonly yardstick: Round;
  /** Requests per second ÷ the yardstick's, round by round. */
  readonly throughput: Spread;
  /** Processor time for a request ÷ the yardstick's, round by round. */
  readonly cpu: Spread;
}

interface Lengths {
  readonly warmUp: Length;
  readonly round: Length;
}

const defaultLengths: Lengths = { warmUp: { seconds: 2 }, round: { seconds: 1 } };
/** Odd, because the median counts: other processes may slow down single rounds. */
const rounds = 5;

/** Alternates short rounds, so that a change of the machine's speed affects both. */
export async function compare(
  postgres: Postgres,
  ours: Load,
  yardstick: Load,
  { warmUp, round } = defaultLengths,
): Promise<Comparison> {
  for (const load of [yardstick, ours]) await runRound(postgres, load, warmUp);
  const pairs: { readonly ours: Round; readonly yardstick: Round }[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    pairs.push({
      yardstick: await runRound(postgres, yardstick, round),
      ours: await runRound(postgres, ours, round),
    });
  }
  return {
    ours: medianRound(pairs.map((pair) => pair.ours)),
    yardstick: medianRound(pairs.map((pair) => pair.yardstick)),
    throughput: spread(pairs.map((pair) => pair.ours.perSecond / pair.yardstick.perSecond)),
    cpu: spread(pairs.map((pair) => pair.ours.cpu / pair.yardstick.cpu)),
  };
}
