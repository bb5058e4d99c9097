import Type, { type Static } from 'typebox';

const part = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const date = { year: part(1, 9999), month: part(1, 12), day: part(1, 31) };

/** A date and time in Tryton's JSON. All seven parts are needed, and it is UTC. */
export const dateTimeSchema = Type.Object({
  __class__: Type.Literal('datetime'),
  ...date,
  hour: part(0, 23),
  minute: part(0, 59),
  second: part(0, 59),
  microsecond: part(0, 999_999),
});
export type RpcDateTime = Readonly<Static<typeof dateTimeSchema>>;

export const dateSchema = Type.Object({ __class__: Type.Literal('date'), ...date });
export type RpcDate = Readonly<Static<typeof dateSchema>>;

/** An instant, with microseconds. */
export function toRpc(date: Date, microseconds = 0): RpcDateTime {
  return {
    __class__: 'datetime',
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    microsecond: date.getUTCMilliseconds() * 1000 + microseconds,
  };
}

/** The instant, to the millisecond. */
export function fromRpc({ year, month, day, hour, minute, second, microsecond }: RpcDateTime): Date {
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(microsecond / 1000)));
}

/** `YYYY-MM-DD` */
export function dateText({ year, month, day }: RpcDate): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

/** The id of a record as the gateway sends it. `undefined`: no record can have it. PostgreSQL's integers end at 2³¹ - 1. */
export function recordId(text: string): number | undefined {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined;
}

export function recordIds(texts: readonly string[]): number[] {
  return texts.flatMap((text) => recordId(text) ?? []);
}
