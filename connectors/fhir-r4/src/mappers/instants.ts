/**
 * https://hl7.org/fhir/R4/datatypes.html#instant and #dateTime with a time. Seconds, the minutes of an offset and its colon may
 * be missing, as in examples that are published: the text still says one moment.
 */
const pattern =
  /^(?<day>\d{4}-\d{2}-\d{2})T(?<time>([01]\d|2[0-3]):[0-5]\d)(?<seconds>:[0-5]\d|:60)?(?<part>\.\d+)?(?<offset>Z|(?<hours>[+-](0\d|1[0-4])):?(?<minutes>[0-5]\d)?)$/;

/**
 * Reads a moment that an EHR wrote. `undefined` if it is missing, is malformed, or has no offset: a bare date, or a local
 * time, is never read in the time zone of this process.
 */
export function readInstant(text: string | undefined): Date | undefined {
  // A server may send a number.
  const found = typeof text === 'string' ? pattern.exec(text)?.groups : undefined;
  if (!found || !isDay(found.day)) return undefined;
  const { day, time, seconds = ':00', part = '', offset, hours, minutes = '00' } = found;
  // `Date` knows no leap seconds.
  const isLeap = seconds === ':60';
  const zone = offset === 'Z' ? offset : `${hours}:${minutes}`;
  const moment = Date.parse(`${day}T${time}${isLeap ? ':59' : seconds}${part}${zone}`);
  return new Date(isLeap ? moment + 1000 : moment);
}

/** `Date` reads 30 February as 2 March. */
function isDay(day = ''): boolean {
  return new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice('yyyy-mm-'.length));
}
