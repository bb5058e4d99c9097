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
  /** That of PostgreSQL. */
  readonly databaseCpu: Spread;
  /** Median duration of a request ÷ the yardstick's, round by round. */
  readonly p50: Spread;
}

interface Lengths {
  readonly warmUp?: Length;
  /** Long enough by default that checkpoints, autovacuum and garbage collection have their share. */
  readonly round?: Length;
}

interface Options extends Lengths {
  readonly connections?: number;
  /** Of the yardstick, if they are others. */
  readonly yardstickLengths?: Lengths;
}

const defaults = { warmUp: { seconds: 3 }, round: { seconds: 6 } };

/** Odd, because the median counts: other processes may slow down single rounds. */
const rounds = 5;

/** Alternates rounds, so that a change of the machine's speed affects both. */
export async function compare(
  postgres: Postgres,
  ours: Load,
  yardstick: Load,
  { connections = 32, yardstickLengths, ...lengths }: Options = {},
): Promise<Comparison> {
  const ofOurs = { ...defaults, ...lengths };
  const ofYardstick = { ...ofOurs, ...yardstickLengths };
  const run = (load: Load, length: Length) => runRound(postgres, load, { connections, length });
  await run(yardstick, ofYardstick.warmUp);
  await run(ours, ofOurs.warmUp);
  const pairs: { readonly ours: Round; readonly yardstick: Round }[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    pairs.push({
      yardstick: await run(yardstick, ofYardstick.round),
      ours: await run(ours, ofOurs.round),
    });
  }
  const ratio = (figure: keyof Round) => spread(pairs.map((pair) => pair.ours[figure] / pair.yardstick[figure]));
  return {
    ours: medianRound(pairs.map((pair) => pair.ours)),
    yardstick: medianRound(pairs.map((pair) => pair.yardstick)),
    throughput: ratio('perSecond'),
    cpu: ratio('cpu'),
    databaseCpu: ratio('databaseCpu'),
    p50: ratio('p50'),
  };
}
