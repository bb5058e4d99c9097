import pg from 'pg';

const int8 = 20;
const date = 1082;
const int8Array = 1016;

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A 64-bit integer of the database does not fit a number.');
  return value;
}

type Nested = string | null | Nested[];
const parseInt8s = (items: Nested[]): unknown[] =>
  items.map((item) => (item === null ? null : Array.isArray(item) ? parseInt8s(item) : parseInt8(item)));

type Parser = (text: string) => unknown;
const parseTextArray = pg.types.getTypeParser(int8Array as number, 'text') as (text: string) => Nested[];
const parsers = new Map<number, Parser>([
  [int8, parseInt8],
  [int8Array, (text) => parseInt8s(parseTextArray(text))],
  // node-postgres would return a Date at midnight in the time zone of the process.
  [date, (text) => text],
]);

/**
 * The JavaScript types of columns: `int8` is a number (a query with a value beyond 2⁵³ fails), `date` is the text
 * `YYYY-MM-DD`, other types are as in node-postgres (`timestamptz` is a `Date`, `numeric` a string, `json` is parsed).
 */
export const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary'): Parser =>
    (format === 'binary' ? undefined : parsers.get(id)) ?? (pg.types.getTypeParser(id, format as 'text') as Parser),
} as pg.CustomTypesConfig;
