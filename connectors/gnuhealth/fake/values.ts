import type { RpcDateTime } from '../src/rpc/values.ts';

/** Microseconds since 1970, so that texts of them sort as Tryton's timestamps do. */
export type Instant = number;

function toInstant({ year, month, day, hour, minute, second, microsecond }: RpcDateTime): Instant {
  return Date.UTC(year, month - 1, day, hour, minute, second) * 1000 + microsecond;
}

export function fromInstant(instant: Instant): RpcDateTime {
  const date = new Date(Math.floor(instant / 1000));
  return {
    __class__: 'datetime',
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    microsecond: instant % 1_000_000,
  };
}

/** What Tryton calls `_timestamp`: seconds with six decimals. */
export function timestampOf(instant: Instant): string {
  return `${Math.floor(instant / 1_000_000)}.${String(instant % 1_000_000).padStart(6, '0')}`;
}

const dateTimeParts = ['year', 'month', 'day', 'hour', 'minute', 'second', 'microsecond'];

/** Values of the protocol become plain ones. An incomplete datetime is an error of the server, 500. */
export function decodeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeValue);
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Readonly<Record<string, unknown>>;
  if (object.__class__ === 'datetime') {
    if (!dateTimeParts.every((part) => typeof object[part] === 'number')) throw new Error('incomplete datetime');
    return toInstant(value as RpcDateTime);
  }
  if (object.__class__ === 'bytes') return Buffer.from(String(object.base64), 'base64');
  return Object.fromEntries(Object.entries(object).map(([key, it]) => [key, decodeValue(it)]));
}

/** Python's `encodebytes` breaks lines after 76 characters, and ends with a break. */
export function encodeBytes(bytes: Buffer): object {
  const base64 = bytes.toString('base64').replaceAll(/.{1,76}/g, '$&\n');
  return { __class__: 'bytes', base64 };
}
