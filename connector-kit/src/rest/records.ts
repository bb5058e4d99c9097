import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Errors } from 'typebox/value';
import type { ConnectorContext } from '../connector.ts';

/** A record, or where it cannot be read: a JSON Pointer. */
export type Reading<Found> =
  | { readonly record: Found; readonly path?: undefined }
  | { readonly record?: undefined; readonly path: string };

/** What the schema names of a record. Members that are null count as absent: EHRs send them for what they do not know. */
export function readRecord<Schema extends TSchema>(schema: Schema, value: unknown): Reading<Static<Schema>> {
  const cleaned = hasNull(value) ? withoutNulls(value) : value;
  if (validatorOf(schema).Check(cleaned)) return { record: cleaned as Static<Schema> };
  const [error] = Errors(schema, cleaned);
  const missing = error?.keyword === 'required' ? error.params.requiredProperties : [];
  return { path: [error?.instancePath ?? '', ...missing.slice(0, 1)].join('/') };
}

/** The record of a reading. `undefined`: it could not be read, and is counted. @param id of the record, if it has one */
export function counted<Found>(
  { leftOut }: Pick<ConnectorContext<unknown>, 'leftOut'>,
  type: string,
  { record, path }: Reading<Found>,
  id?: unknown,
): Found | undefined {
  if (path !== undefined) leftOut?.({ type, path, id: typeof id === 'string' ? id : undefined });
  return record;
}

/** As `readRecord`, and what cannot be read is counted: `undefined` then. @param id of the record. Absent: its member `id` */
export function countedRecord<Schema extends TSchema>(
  context: Pick<ConnectorContext<unknown>, 'leftOut'>,
  type: string,
  schema: Schema,
  value: unknown,
  id: unknown = Reflect.get(Object(value), 'id'),
): Static<Schema> | undefined {
  return counted(context, type, readRecord(schema, value), id);
}

/** Copying each of thousands of records would take most of the time. */
function hasNull(value: unknown): boolean {
  if (typeof value !== 'object') return false;
  if (value === null) return true;
  for (const name in value) if (hasNull(value[name as keyof typeof value])) return true;
  return false;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((it) => it !== null).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, it]) => it !== null);
  return Object.fromEntries(members.map(([name, it]) => [name, withoutNulls(it)]));
}

const validators = new WeakMap<TSchema, Validator>();

/** Compiled at its first use: a list can have thousands of records. */
function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
}
