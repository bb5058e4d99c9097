import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';

export type RecurrenceRule = RRuleTemporal<Temporal.ZonedDateTime>;

const rules = new Map<string, RecurrenceRule>();
const rulesKept = 1000;

/** The rule with its first occurrence. Cached: parsing a rule is expensive, and a rule speeds up repeated queries. */
export function recurrenceRule(localStart: string, recurrence: string, timeZone: string): RecurrenceRule {
  const key = `${localStart} ${timeZone} ${recurrence}`;
  const known = rules.get(key);
  if (known) return known;
  const rule = parseRule(localStart, recurrence, timeZone);
  if (rules.size >= rulesKept) rules.clear();
  rules.set(key, rule);
  return rule;
}

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
  return instant.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '');
}
