import type { LeftOutRecord } from '@crossward/connector-kit';
import { instantIn } from '@crossward/connector-kit/rest';
import Type, { type Static, type TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';

const id = Type.String({ pattern: '^[0-9a-fA-F-]{36}$' });
/** CARE leaves fields out, or sends null. */
const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));
const instant = Type.Refine(Type.String(), (it) => instantIn(it) !== undefined);

export const slotSchema = Type.Object({
  id,
  start_datetime: instant,
  end_datetime: instant,
  allocated: Type.Integer(),
  availability: Type.Object({ name: Type.String(), tokens_per_slot: Type.Integer() }),
});

export const bookingSchema = Type.Object({
  id,
  status: Type.String(),
  note: maybe(Type.String()),
  patient: Type.Object({ id }),
  resource: maybe(
    Type.Object({
      id,
      name: maybe(Type.String()),
      first_name: maybe(Type.String()),
      last_name: maybe(Type.String()),
    }),
  ),
  token_slot: Type.Object({
    start_datetime: instant,
    end_datetime: maybe(Type.String()),
    availability: maybe(Type.Object({ name: maybe(Type.String()), tokens_per_slot: maybe(Type.Integer()) })),
  }),
  created_date: maybe(Type.String()),
  modified_date: maybe(Type.String()),
});
export type CareBooking = Readonly<Static<typeof bookingSchema>>;

export const resourceSchema = Type.Object({
  id,
  name: maybe(Type.String()),
  first_name: maybe(Type.String()),
  last_name: maybe(Type.String()),
  username: maybe(Type.String()),
});

/** Only the id must be there: everything else is read as far as it can be. */
export const patientSchema = Type.Object({
  id,
  name: Type.Unknown(),
  instance_identifiers: maybe(Type.Array(Type.Unknown())),
});

type LeftOut = (record: LeftOutRecord) => void;

/** The record, or `undefined`: it is not as the schema says, and was counted. */
export function readRecord<Schema extends TSchema>(
  type: string,
  schema: Schema,
  value: unknown,
  leftOut: LeftOut,
): Static<Schema> | undefined {
  if (Check(schema, value)) return value;
  const ownId = Check(Type.Object({ id }), value) ? value.id : undefined;
  leftOut({ type, id: ownId, path: Errors(schema, value)[0]?.instancePath ?? '' });
  return undefined;
}
