import Type, { type TSchemaOptions } from 'typebox';

/** Text from outside: Unicode that every database can keep. */
export function text(options: TSchemaOptions & { minLength?: number; maxLength?: number } = {}) {
  return Type.String({ format: 'text', ...options });
}

/** A `type` list, since the serialiser turns null in a plain string into `""`. */
export function nullableString(options: TSchemaOptions = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export function nullableInteger(options: TSchemaOptions = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** One of a closed list of texts. */
export function choice<const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
}

/** A reference to a named component of the OpenAPI description, typed as what it stands for. */
export function reference<Shape>(name: string) {
  return Type.Unsafe<Shape>({ $ref: name });
}

/** An identifier as a caller may write it. What is wrong with one that is not empty has reasons of its own. */
function notation(kind: 'Patient' | 'Resource') {
  return (before = '') =>
    Type.String({
      minLength: 1,
      description: `${before}${kind} ID notation: \`{type}:{value}\`, a bare \`emr_id\`, or \`header:{header_name}\`.`,
    });
}

export const patientNotation = notation('Patient');
export const resourceNotation = notation('Resource');
