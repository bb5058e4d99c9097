import { instantIn } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const id = Type.String({ pattern: '^[0-9a-fA-F-]{36}$' });
const text = Type.Optional(Type.String());
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
  note: text,
  patient: Type.Object({ id }),
  resource: Type.Optional(Type.Object({ id, name: text, first_name: text, last_name: text })),
  token_slot: Type.Object({
    start_datetime: instant,
    end_datetime: text,
    availability: Type.Optional(Type.Object({ name: text, tokens_per_slot: Type.Optional(Type.Integer()) })),
  }),
  created_date: text,
  modified_date: text,
});
export type CareBooking = Readonly<Static<typeof bookingSchema>>;

export const resourceSchema = Type.Object({ id, name: text, first_name: text, last_name: text, username: text });

/** Only the id must be there: everything else is read as far as it can be. */
export const patientSchema = Type.Object({
  id,
  name: Type.Optional(Type.Unknown()),
  instance_identifiers: Type.Optional(Type.Array(Type.Unknown())),
});
