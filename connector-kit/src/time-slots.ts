interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

/**
 * Whether `slots` hold a run that starts exactly where `range` starts, ends exactly where it ends, and has no gap
 * between: the rule for every booking.
 */
export function coversWithoutGap(slots: readonly TimeRange[], range: TimeRange): boolean {
  const end = range.end.getTime();
  const reached = new Set([range.start.getTime()]);
  for (const slot of slots.toSorted((a, b) => a.start.getTime() - b.start.getTime())) {
    if (reached.has(slot.start.getTime())) reached.add(slot.end.getTime());
  }
  return range.start.getTime() < end && reached.has(end);
}

/** Whether two ranges share any time. Ends are exclusive: neighbours do not overlap. */
export function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.start < b.end && b.start < a.end;
}
