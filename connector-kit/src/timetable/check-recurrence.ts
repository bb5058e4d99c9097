import { Temporal } from 'temporal-polyfill';
import { firstStarts, isSimple, lastOf, longestYears, parseRule } from './recurrence-rule.ts';

/** One occurrence a day for ten years. */
const mostOccurrences = 3660;
/** Of a rule for which the library examines each date. That takes it ten times as long. */
const mostExamined = 1000;

const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
const weekday = '(MO|TU|WE|TH|FR|SA|SU)';
/** The parts of a rule and their values: RFC 5545, section 3.3.10. */
const parts: Readonly<Record<string, RegExp>> = {
  FREQ: /^[A-Z]+$/,
  INTERVAL: /^[1-9]\d{0,2}$/,
  COUNT: /^[1-9]\d{0,4}$/,
  UNTIL: /^\d{8}T\d{6}Z?$/,
  BYMONTH: listOf('([1-9]|1[0-2])'),
  BYMONTHDAY: listOf('[+-]?([1-9]|[12]\\d|3[01])'),
  BYYEARDAY: listOf('[+-]?([1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYWEEKNO: listOf('[+-]?([1-9]|[1-4]\\d|5[0-3])'),
  BYSETPOS: listOf('[+-]?([1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYDAY: listOf(`([+-]?([1-9]|[1-4]\\d|5[0-3]))?${weekday}`),
  WKST: new RegExp(`^${weekday}$`),
};
const timesOfDay = ['BYHOUR', 'BYMINUTE', 'BYSECOND'];

function listOf(value: string): RegExp {
  return new RegExp(`^${value}(,${value})*$`);
}

/** `fault` is a sentence that says what is wrong. `last`: when the last occurrence starts. */
export type CheckedRecurrence = { readonly fault: string } | { readonly last: Date };

/**
 * Checks the recurrence of a new schedule. It must be a rule of RFC 5545 (section 3.3.10) with a frequency of a day or
 * more, `localStart` as its first occurrence, and its last occurrence within ten years.
 */
export function checkRecurrence(localStart: string, recurrence: string, timeZone: string): CheckedRecurrence {
  const fault = faultInText(recurrence);
  if (fault !== undefined) return { fault };
  try {
    return occurrencesFault(localStart, recurrence, timeZone);
  } catch {
    return { fault: 'The recurrence is not a valid rule of RFC 5545.' };
  }
}

/** Includes combinations that RFC 5545 allows and that the library evaluates wrongly. */
function faultInText(recurrence: string): string | undefined {
  const values = new Map<string, string>();
  for (const part of recurrence.toUpperCase().split(';')) {
    const [name = '', value = '', ...rest] = part.split('=');
    if (timesOfDay.includes(name)) return `${name} is not supported: the time of day is that of \`start_time\`.`;
    const pattern = parts[name];
    if (!pattern) return 'Each part of the recurrence must be a known NAME=value, such as FREQ=WEEKLY.';
    if (values.has(name)) return `${name} must not be repeated.`;
    if (rest.length > 0 || !pattern.test(value)) return `The value of ${name} is invalid.`;
    values.set(name, value);
  }
  const frequency = values.get('FREQ');
  if (frequency === undefined) return 'FREQ is missing.';
  if (!frequencies.includes(frequency)) return `FREQ must be ${frequencies.join(', ')}.`;
  const [byDay, byMonthDay] = [values.get('BYDAY'), values.get('BYMONTHDAY')];
  if (values.has('BYYEARDAY') && (byDay ?? byMonthDay) !== undefined) {
    return 'BYYEARDAY together with BYDAY or BYMONTHDAY is not supported.';
  }
  if (frequency === 'YEARLY' && byMonthDay !== undefined && /\d/.test(byDay ?? '')) {
    return 'BYMONTHDAY together with a numbered BYDAY such as 1MO is not supported with FREQ=YEARLY.';
  }
  const [count, until] = [values.get('COUNT'), values.get('UNTIL')];
  if (count !== undefined && until !== undefined) return 'COUNT and UNTIL exclude each other.';
  if (count === undefined && until === undefined) return 'The recurrence never ends. Add UNTIL or COUNT.';
  if (Number(count) > mostOccurrences) return `COUNT must not be more than ${mostOccurrences}.`;
  return undefined;
}

const tooManyExamined = {
  fault: `A recurrence with BYMONTH, BYMONTHDAY, BYYEARDAY, BYWEEKNO or BYSETPOS, or with FREQ=YEARLY and BYDAY, must have at most ${mostExamined} occurrences.`,
};

function occurrencesFault(localStart: string, recurrence: string, timeZone: string): CheckedRecurrence {
  const { dtstart, until, count } = parseRule(localStart, recurrence, timeZone, true).options();
  const latest = dtstart.add({ years: longestYears });
  const tooLong = { fault: `The recurrence must end within ${longestYears} years.` };
  if (until && Temporal.ZonedDateTime.compare(until, latest) > 0) return tooLong;
  if (until && Temporal.ZonedDateTime.compare(until, dtstart) < 0) {
    return { fault: 'The recurrence has no occurrence: UNTIL is before `start_time`.' };
  }
  if (!startsRule(localStart, recurrence, timeZone)) {
    return { fault: '`start_time` must be an occurrence of the recurrence.' };
  }
  const most = isSimple(recurrence) ? mostOccurrences : mostExamined;
  if (count !== undefined && count > most) return tooManyExamined;
  // One more, to see whether there are too many.
  const starts = count === undefined ? firstStarts(localStart, recurrence, timeZone, most + 1) : [];
  if (starts.length > most) return tooManyExamined;
  const last = count === undefined ? starts.at(-1) : lastOf(localStart, recurrence, timeZone, count);
  return last ? { last: new Date(last.epochMilliseconds) } : tooLong;
}

/** Looked at on its own: years of dates may have to be examined to see that a rule never occurs. */
function startsRule(localStart: string, recurrence: string, timeZone: string): boolean {
  const onlyFirst = recurrence.replace(/(COUNT|UNTIL)=\w+/i, `UNTIL=${localStart.replaceAll(/[-:]/g, '')}`);
  return parseRule(localStart, onlyFirst, timeZone).all().length > 0;
}
