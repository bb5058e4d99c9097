import { formatInstant, isDateTime, startOfDay } from '../time/date-times.ts';

const form = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/** Whether a text is a date, or a date-time with or without seconds and offset, such as a result has. */
export function isDayOrTime(text: string): boolean {
  return isDateTime(completed(text));
}

/** When a range begins, for the gateway: a date means its first moment. */
export function startOfRange(text: string, timeZone: string): string {
  return momentOf(text, timeZone, 0);
}

/** When a range ends, for the gateway: a date means the whole day. */
export function endOfRange(text: string, timeZone: string): string {
  return momentOf(text, timeZone, 1);
}

function momentOf(text: string, timeZone: string, laterDays: number): string {
  const day = /t/i.test(text) ? undefined : startOfDay(text, timeZone, laterDays);
  return day ? formatInstant(day, timeZone) : completed(text);
}

/** With the parts of RFC 3339 that a person leaves out. Without an offset, it is local time of the care unit. */
function completed(text: string): string {
  const [, day, time = '00:00', seconds = ':00', offset = ''] = form.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time}${seconds}${offset}`;
}
