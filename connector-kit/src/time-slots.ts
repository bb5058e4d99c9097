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

/** Whether two ranges overlap. Ends are exclusive: adjacent ranges do not overlap. */
export function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.start < b.end && b.start < a.end;
}
