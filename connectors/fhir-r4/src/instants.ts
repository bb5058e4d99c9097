/**
 * https://hl7.org/fhir/R4/datatypes.html#instant and #dateTime with a time. Seconds may be missing, because the text then
 * still says one moment.
 */
const pattern = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d|:60)?(\.\d+)?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

/**
 * Reads a moment that an EHR wrote. `undefined` if it is missing, is malformed, or has no offset: a bare date, or a local
 * time, is never read in the time zone of this process.
 */
export function readInstant(text: string | undefined): Date | undefined {
  // A server may send a number.
  const found = typeof text === 'string' ? pattern.exec(text) : null;
  if (!text || !found || !isDay(found[1])) return undefined;
  // `Date` knows no leap seconds.
  const isLeap = found[3] === ':60';
  const moment = Date.parse(isLeap ? text.replace(':60', ':59') : text);
  return new Date(isLeap ? moment + 1000 : moment);
}

/** `Date` reads 30 February as 2 March. */
function isDay(day = ''): boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}
