import { median, type Spread, spread } from './statistics.ts';

const warmUp = 20;
const rounds = 5;
const samples = 20;

/**
 * The difference of the median durations of two requests, which are sent in turn, one at a time.
 *
 * @returns the spread of the rounds in milliseconds
 */
export async function addedMilliseconds(ours: () => Promise<unknown>, direct: () => Promise<unknown>): Promise<Spread> {
  await sample(ours, direct, warmUp);
  const added: number[] = [];
  for (let round = 0; round < rounds; round++) added.push(await sample(ours, direct, samples));
  return spread(added);
}

async function sample(ours: () => Promise<unknown>, direct: () => Promise<unknown>, count: number): Promise<number> {
  const times: { readonly ours: number; readonly direct: number }[] = [];
  for (let turn = 0; turn < count; turn++) times.push({ direct: await timed(direct), ours: await timed(ours) });
  return median(times.map((time) => time.ours)) - median(times.map((time) => time.direct));
}

/** Duration in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
