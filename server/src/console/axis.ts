/** Where an axis ends at the least, so that one quick call, or a single booking, does not look like a full bar. */
export const leastAxis = { milliseconds: 100, callsAMinute: 10, happenings: 5 } as const;

/** The end of an axis that begins at 0: the next 1, 2 or 5 with zeros that is not below the highest value or the least end. */
export function axisEnd(highest: number, least: number): number {
  const needed = Math.max(highest, least);
  const power = 10 ** Math.floor(Math.log10(needed));
  return [1, 2, 5].map((step) => step * power).find((end) => end >= needed) ?? 10 * power;
}
