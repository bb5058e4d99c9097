interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

/**
 * Whether consecutive `slots` cover `range` exactly: the first starts at its start, the last ends at its end, and there
 * is no gap. Every booking must satisfy this rule.
 */
export function coversWithoutGap(slots: readonly TimeRange[], range: TimeRange): boolean {
  const end = range.end.getTime();
  const reached = new Set([range.start.getTime()]);
  for (const slot of slots.toSorted((a, b) => a.start.getTime() - b.start.getTime())) {
    if (reached.has(slot.start.getTime())) reached.add(slot.end.getTime());
  }
  return range.start.getTime() < end && reached.has(end);
}

/** The time of an appointment. `null`: the EHR does not say when it ends. */
interface OpenRange {
  readonly start: Date;
  readonly end: Date | null;
}

/**
 * Whether two ranges overlap. Ends are exclusive: adjacent ranges do not overlap. A range without an end counts as the moment
 * at which it starts.
 */
export function overlaps(a: OpenRange, b: OpenRange): boolean {
  return a.start < endOf(b) && b.start < endOf(a);
}

function endOf({ start, end }: OpenRange): Date {
  return end ?? new Date(start.getTime() + 1);
}
