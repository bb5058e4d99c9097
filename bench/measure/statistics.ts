/** A figure of several rounds. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** @param values at least one */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}

/** The spread of `1 / value`: a ratio of throughputs becomes a ratio of durations. */
export function inverse({ median, lowest, highest }: Spread): Spread {
  return { median: 1 / median, lowest: 1 / highest, highest: 1 / lowest };
}

/** @param values at least one. With an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}
