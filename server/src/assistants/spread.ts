/**
 * At most `most` of the times, spread over their days and over the hours of each day: people who cannot come on one morning need
 * no second search. The first time of the first day is always among them.
 *
 * @param times by start
 * @param dayOf which day a time belongs to
 */
export function spread<Time>(times: readonly Time[], most: number, dayOf: (time: Time) => string): Time[] {
  const days = evenly([...Map.groupBy(times, dayOf).values()], most);
  const shares = days.map(() => 0);
  let rest = Math.min(most, times.length);
  for (let round = 1; rest > 0; round++) {
    for (const [index, day] of days.entries()) {
      if (rest === 0 || day.length < round) continue;
      shares[index] = round;
      rest -= 1;
    }
  }
  return days.flatMap((day, index) => evenly(day, shares[index] ?? 0));
}

/** At most `most` of the items, at even distances, the first one among them. */
function evenly<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  const group = (index: number) => Math.floor((index * most) / items.length);
  return items.filter((_, index) => group(index) !== group(index - 1));
}
