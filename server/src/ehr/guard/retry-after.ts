/**
 * The seconds that a `Retry-After` header asks for, given in seconds or as a date (RFC 9110 section 10.2.3).
 * `undefined` for anything else.
 */
export function retryAfterSeconds(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = /GMT$|^\w+ \w+ +\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
