import type { LeftOutRecord } from '@crossward/connector-kit';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';

/** Ids of records are positive, and PostgreSQL's integers end at 2³¹ - 1. */
export const idSchema = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

/** Tryton returns `null` for a field without a value. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export const textSchema = nullable(Type.String());

/** The fields that a schema describes: `name` in the object `party.` is the field `party.name`. */
export function fieldsOf({ properties }: TObject): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (name === 'id') return [];
    return name.endsWith('.') ? fieldsOf(objectIn(schema)).map((field) => `${name}${field}`) : [name];
  });
}

function objectIn(schema: TSchema): TObject {
  if (Type.IsObject(schema)) return schema;
  const found = Type.IsUnion(schema) ? schema.anyOf.find((it) => Type.IsObject(it)) : undefined;
  if (!found) throw new Error('A field of a named record has no schema');
  return found;
}

/** The rows that are as the schema says. The others are reported. */
export function readRows<Schema extends TObject>(
  model: string,
  schema: Schema,
  rows: readonly unknown[],
  leftOut: (record: LeftOutRecord) => void,
): readonly Static<Schema>[] {
  return rows.filter((row): row is Static<Schema> => {
    if (Check(schema, row)) return true;
    const [error] = Errors(schema, row);
    leftOut({ type: model, id: idOf(row), path: error?.instancePath ?? '' });
    return false;
  });
}

function idOf(row: unknown): string | undefined {
  const id = typeof row === 'object' && row !== null && 'id' in row ? row.id : undefined;
  return Check(idSchema, id) ? String(id) : undefined;
}
