import { Temporal } from 'temporal-polyfill';

/** Gives a moment without an offset the offset that it has in the EHR's time zone, and leaves every other text as it is. */
export type LocalTimes = (element: string, text: string) => string;

/** The elements of resources and Bundles that hold a moment. */
const moments: ReadonlySet<string> = new Set([
  'start',
  'end',
  'date',
  'created',
  'creation',
  'deceasedDateTime',
  'lastUpdated',
  'lastModified',
  'valueDateTime',
  'valueInstant',
]);
const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/**
 * FHIR requires an offset of a moment (https://hl7.org/fhir/R4/datatypes.html#dateTime), and some servers leave it out.
 *
 * @param timeZone the zone in which the server writes. `undefined`: nobody has said it, and nothing is guessed
 * @param seen called for each moment without an offset
 */
export function localTimes(timeZone: string | undefined, seen: () => void): LocalTimes {
  return (element, text) => {
    if (!moments.has(element) || !pattern.test(text)) return text;
    seen();
    return timeZone === undefined ? text : withOffset(text, timeZone, element === 'end');
  };
}

/**
 * The text stays as it is, and is then no moment, if the calendar has no such day, if the clocks skip it or if they repeat it. Of
 * an end, which is exclusive, the skipped hour is the instant at which the clocks go on, and a repeated one the first.
 */
function withOffset(text: string, timeZone: string, isEnd: boolean): string {
  const local = plainTime(text);
  if (!local) return text;
  const [first, second] = (['earlier', 'later'] as const).map((it) =>
    local.toZonedDateTime(timeZone, { disambiguation: it }),
  );
  if (!first || !second) return text;
  if (first.equals(second)) return `${text}${first.offset}`;
  if (!isEnd) return text;
  if (first.toPlainDateTime().equals(local)) return `${text}${first.offset}`;
  return first.getTimeZoneTransition('next')?.toInstant().toString() ?? text;
}

function plainTime(text: string): Temporal.PlainDateTime | undefined {
  try {
    return Temporal.PlainDateTime.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/** Whether there is such a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}
