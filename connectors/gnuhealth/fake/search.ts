import { matches } from './domain.ts';
import { models } from './models.ts';
import type { Row, Tables } from './tables.ts';
import { encodeBytes, fromInstant, timestampOf } from './values.ts';

type Order = readonly (readonly [string, string])[];

/** The parameters of `search_read`. */
export interface SearchRead {
  readonly model: string;
  readonly domain: readonly unknown[];
  readonly offset: number;
  readonly limit: number | null;
  readonly order: Order | null;
  readonly fields: readonly string[];
  readonly context: Readonly<Record<string, unknown>>;
}

export function searchRows(tables: Tables, { model, domain, offset, limit, order, context }: SearchRead): Row[] {
  const isShown = (row: Row) => context.active_test === false || row.active !== false;
  const found = [...tables.of(model).values()].filter((row) => isShown(row) && matches(tables, model, row, domain));
  const sorted = found.sort((a, b) => compare(tables, model, a, b, order ?? [['id', 'ASC']]));
  return sorted.slice(offset, limit === null ? undefined : offset + limit);
}

function compare(tables: Tables, model: string, a: Row, b: Row, order: Order): number {
  for (const [field, direction] of order) {
    const [x, y] = [a, b].map((row) => tables.valueOf(model, row, field) as number | null);
    if (x === y) continue;
    // PostgreSQL puts NULL last.
    const isLess = y === null || y === undefined || (x !== null && x !== undefined && x < y);
    return (isLess ? -1 : 1) * (direction === 'DESC' ? -1 : 1);
  }
  return 0;
}

/** A row as it is returned. Fields of a named record are in an object: `party.ref` in `party.`. */
export function shown(
  tables: Tables,
  model: string,
  row: Row,
  fields: readonly string[],
  context: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result: Record<string, unknown> = { id: row.id };
  const inner = new Map<string, string[]>();
  for (const field of fields) {
    const [name = '', ...rest] = field.split('.');
    if (rest.length > 0) inner.set(name, [...(inner.get(name) ?? []), rest.join('.')]);
    else result[name] = fieldOf(model, row, name, context);
  }
  for (const [name, names] of inner) {
    const target = tables.targetOf(model, row, name);
    result[`${name}.`] = target ? shown(tables, target.model, target.row, names, context) : null;
  }
  return result;
}

function fieldOf(model: string, row: Row, field: string, context: Readonly<Record<string, unknown>>): unknown {
  const { instants = [], bytes = [] } = models[model] ?? {};
  if (field === '_timestamp') return timestampOf(row.write_date ?? row.create_date);
  // The log names a record that is gone only to those who search for it.
  if (model === 'ir.model.log' && field === 'resource' && row.event === 'delete') return null;
  const value = row[field] ?? null;
  if (value !== null && instants.includes(field)) return fromInstant(Number(value));
  if (value instanceof Buffer && bytes.includes(field)) {
    return context[`${model}.${field}`] === 'size' ? value.length : encodeBytes(value);
  }
  return value;
}
