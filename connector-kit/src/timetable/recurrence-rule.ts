import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';

export type RecurrenceRule = RRuleTemporal<Temporal.ZonedDateTime>;

const rules = new Map<string, RecurrenceRule>();
const rulesKept = 1000;

/** Years within which the last occurrence of a schedule must start. */
export const longestYears = 10;

/** The rule with its first occurrence. Cached: parsing a rule is expensive, and a rule speeds up repeated queries. */
export function recurrenceRule(localStart: string, recurrence: string, timeZone: string): RecurrenceRule {
  const key = `${localStart} ${timeZone} ${recurrence}`;
  const known = rules.get(key);
  if (known) return known;
  const rule = withoutCount(localStart, recurrence, timeZone);
  if (rules.size >= rulesKept) rules.clear();
  rules.set(key, rule);
  return rule;
}

/** The rule with UNTIL in place of COUNT, for which the library looks at all occurrences from the first one, for each window. */
function withoutCount(localStart: string, recurrence: string, timeZone: string): RecurrenceRule {
  const rule = parseRule(localStart, recurrence, timeZone);
  const { count } = rule.options();
  if (count === undefined) return rule;
  const last = lastOf(localStart, recurrence, timeZone, count);
  if (!last) return rule;
  return parseRule(localStart, recurrence.replace(countPart, `UNTIL=${basicFormat(last.toInstant())}`), timeZone);
}

const lasts = new Map<string, Temporal.ZonedDateTime | undefined>();

/** The last start of a rule with this COUNT. `undefined`: it is not within ten years. Cached: every date before it is examined. */
export function lastOf(
  localStart: string,
  recurrence: string,
  timeZone: string,
  count: number,
): Temporal.ZonedDateTime | undefined {
  const key = `${localStart} ${timeZone} ${recurrence}`;
  if (lasts.has(key)) return lasts.get(key);
  const last = firstStarts(localStart, recurrence, timeZone, count)[count - 1];
  if (lasts.size >= rulesKept) lasts.clear();
  lasts.set(key, last);
  return last;
}

/**
 * The first starts of a rule, at most `most`, within ten years. The library looks for `COUNT` occurrences however far apart
 * they are, and time zones in distant millennia are slow, so it gets a rule that ends by then.
 */
export function firstStarts(
  localStart: string,
  recurrence: string,
  timeZone: string,
  most: number,
): Temporal.ZonedDateTime[] {
  const latest = Temporal.PlainDateTime.from(localStart).add({ years: longestYears });
  const rule = parseRule(localStart, recurrence.replace(countPart, `UNTIL=${basicFormat(latest)}`), timeZone);
  // Without a function, the library takes a faster way through the rules that allow it.
  return isSimple(recurrence) ? rule.all().slice(0, most) : rule.all((_, index) => index < most);
}

/** Whether the library can count days, weeks or months on from the first occurrence, and need not examine each date. */
export function isSimple(recurrence: string): boolean {
  const isByDayOfYear = /FREQ=YEARLY/i.test(recurrence) && /BYDAY=/i.test(recurrence);
  return !isByDayOfYear && !/BY(MONTH|MONTHDAY|YEARDAY|WEEKNO|SETPOS)=/i.test(recurrence);
}

const countPart = /COUNT=\d+/i;

/**
 * Parses a rule.
 *
 * @param strict whether to reject what RFC 5545 forbids
 * @throws Error when the rule cannot be read
 */
export function parseRule(localStart: string, recurrence: string, timeZone: string, strict = false): RecurrenceRule {
  return new RRuleTemporal({
    rruleString: recurrence.replace(localUntil, (_, name, until) => `${name}${utcText(until, timeZone)}`),
    dtstart: Temporal.PlainDateTime.from(localStart).toZonedDateTime(timeZone),
    temporal: Temporal,
    strict,
  });
}

/** A local `UNTIL`. RFC 5545 (section 3.3.10) has it go with a local start; the library accepts UTC only. */
const localUntil = /(UNTIL=)(\d{8}T\d{6})(?!Z)/i;

function utcText(local: string, timeZone: string): string {
  const instant = Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).toInstant();
  return basicFormat(instant);
}

function basicFormat(time: Temporal.Instant | Temporal.PlainDateTime): string {
  return time.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '');
}
