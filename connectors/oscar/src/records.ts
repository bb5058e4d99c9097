import type { LeftOutRecord } from '@crossward/connector-kit';
import { countedRecord, instantIn } from '@crossward/connector-kit/rest';
import type { XmlElement } from '@crossward/connector-kit/soap';
import Type, { type Static, type TSchema } from 'typebox';

const text = Type.Optional(Type.String());
const id = Type.String({ pattern: '^[1-9][0-9]*$' });
const number = Type.String({ pattern: '^[0-9]+$' });
const instant = Type.Refine(Type.String(), (it) => instantIn(it) !== undefined);

export const appointmentSchema = Type.Object({
  id,
  providerNo: text,
  demographicNo: number,
  appointmentStartDateTime: instant,
  appointmentEndDateTime: text,
});
export const providerSchema = Type.Object({
  providerNo: Type.String({ minLength: 1 }),
  firstName: text,
  lastName: text,
});
export const typeSchema = Type.Object({ id, name: Type.String({ minLength: 1 }), duration: text });
export const codeSchema = Type.Object({ code: Type.String({ minLength: 1 }), bookinglimit: text });
export const slotSchema = Type.Object({ date: instant, scheduleCode: Type.String({ minLength: 1 }) });
/** Only the number must be there: everything else is read as far as it can be. */
export const demographicSchema = Type.Object({ demographicNo: id });

/** The members of an element that are texts, by name. One that is null has no element. */
export type Fields = Readonly<Record<string, string>>;

export function fieldsOf({ children }: XmlElement): Fields {
  return Object.fromEntries(
    children.filter((it) => it.children.length === 0).map(({ name, text: own }) => [name, own]),
  );
}

/** The record, or `undefined`: it is not as the schema says, and was counted. */
export function recordIn<Schema extends TSchema>(
  type: string,
  schema: Schema,
  fields: Fields,
  leftOut: (record: LeftOutRecord) => void,
): Static<Schema> | undefined {
  return countedRecord({ leftOut }, type, schema, fields, fields.id ?? fields.demographicNo);
}

/** The character that a server sends as a number, such as `49` for `1`. */
export function characterIn(code: string): string {
  return /^\d{2,5}$/.test(code) ? String.fromCharCode(Number(code)) : code;
}
