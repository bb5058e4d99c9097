import Type, { type TSchemaOptions } from 'typebox';

/** Text from a caller: well-formed Unicode without NUL, so that any database can store it. */
export function text(options: TSchemaOptions & { minLength?: number; maxLength?: number } = {}) {
  return Type.String({ format: 'text', ...options });
}

/** Uses a `type` list, because the serialiser would turn null in a union into `""`. */
export function nullableString(options: TSchemaOptions = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export function nullableInteger(options: TSchemaOptions = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** A string enum. */
export function choice<const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
}

/** A reference to a named OpenAPI component, with the TypeScript type of that component. */
export function reference<Shape>(name: string) {
  return Type.Unsafe<Shape>({ $ref: name });
}

/** An identifier in a request. Only its presence is checked here; its content is checked with its own reasons. */
function notation(kind: 'Patient' | 'Resource') {
  return (prefix = '') =>
    Type.String({
      minLength: 1,
      description: `${prefix}${kind} ID notation: \`{type}:{value}\`, a bare \`emr_id\`, or \`header:{header_name}\`.`,
    });
}

export const patientNotation = notation('Patient');
export const resourceNotation = notation('Resource');
