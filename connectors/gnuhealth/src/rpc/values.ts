/** A date and time in Tryton's JSON. All seven parts are needed, and it is UTC. */
export interface RpcDateTime {
  readonly __class__: 'datetime';
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
}

export interface RpcDate {
  readonly __class__: 'date';
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

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
