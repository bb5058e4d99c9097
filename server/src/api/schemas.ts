import { attendances, modalities } from '@crossward/connector-kit';
import Type, { type TSchemaOptions } from 'typebox';

/** Text in a request: Unicode that every database can store. */
export function text(options: TSchemaOptions & { minLength?: number; maxLength?: number } = {}) {
  return Type.String({ format: 'text', ...options });
}

/** Uses a `type` list, since the serialiser turns null into `""` for a plain string. */
export function nullableString(options: TSchemaOptions = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export function nullableInteger(options: TSchemaOptions = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** A date-time in a request. */
export function dateTime(description: string) {
  return Type.String({
    format: 'date-time-or-local',
    description: `${description} RFC 3339. Local time of the care unit if the offset is omitted.`,
  });
}

/** A local date-time in a request. */
export function localDateTime(description: string) {
  return Type.String({
    format: 'local-date-time',
    description: `${description} Local time of the care unit, \`YYYY-MM-DDThh:mm:ss\`.`,
  });
}

/** One of a fixed list of values. */
export function choice<const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
}

/** One of a fixed list of values, or null. Code generators turn an enum that contains null into several enums. */
export function nullableChoice<const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) {
  return Type.Unsafe<Values[number] | null>({ anyOf: [choice(values), Type.Null()], ...options });
}

/** How the patient and the resource meet. */
export const modality = nullableChoice(modalities, {
  description: 'How the patient and the resource meet. Null if the EHR does not say.',
});

/** What staff have noted about the visit. */
export const attendance = nullableChoice(attendances, {
  description:
    'What the EHR knows about the attendance. `arrived`: the patient is there. `completed`: the visit is over. Both are `booked`. `no_show`: the patient did not come; the appointment is `cancelled`. Null if the EHR does not say.',
});

/** A typed reference to a named component of the OpenAPI description. */
export function reference<Shape>(name: string) {
  return Type.Unsafe<Shape>({ $ref: name });
}

/** The id of a patient or resource in a response, in the notation that requests accept. */
export const emrId = Type.String({ description: 'As `emr_id:{value}`. Can be sent back unchanged.' });

export const nullableEmrId = (description: string) =>
  nullableString({ description: `As \`emr_id:{value}\`. Can be sent back unchanged. ${description}` });

/** An identifier in a request. The schema only rejects an empty one; other errors have their own reasons. */
function notation(kind: 'Patient' | 'Resource') {
  return (prefix = '') =>
    Type.String({
      minLength: 1,
      description: `${prefix}${kind} ID notation: \`{type}:{value}\`, a bare \`emr_id\`, or \`header:{header_name}\`.`,
    });
}

export const patientNotation = notation('Patient');
export const resourceNotation = notation('Resource');
