const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Local time at which a range begins: a date means its first moment. */
export function startOfRange(text: string): string {
  return text.includes('T') ? text : `${text}T00:00:00`;
}

/** Local time at which a range ends: a date means the whole day. */
export function endOfRange(text: string): string {
  if (text.includes('T')) return text;
  const midnight = Date.parse(`${text}T00:00:00Z`);
  // The gateway says that there is no such day.
  if (Number.isNaN(midnight)) return `${text}T00:00:00`;
  return new Date(midnight + dayMilliseconds).toISOString().slice(0, 19);
}
