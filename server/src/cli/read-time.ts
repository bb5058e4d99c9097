import { UsageError } from './exit-codes.ts';

/**
 * The time of an option. It has an offset, because the gateway and the operator can be in different time zones.
 *
 * @throws {UsageError} if it is no such time
 */
export function readInstant(option: string, text: string): Date {
  const time = new Date(text);
  if (/T.*(Z|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new UsageError(`${option} must be a time with UTC offset, such as 2027-03-28T06:00+02:00.`);
}
