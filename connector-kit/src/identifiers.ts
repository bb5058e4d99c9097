/**
 * The id of an identifier type: `emr_id`, the EHR's own id, or one of `identifierTypesOf('patient')`. Values are validated and
 * normalised before they reach a connector: see `IdentifierType`.
 */
export type PatientIdentifierType = string;
/** As `PatientIdentifierType`, of `identifierTypesOf('resource')`. */
export type ResourceIdentifierType = string;

/** An identifier with its type. The value is validated and normalised. */
export interface Identifier<Type extends string> {
  readonly type: Type;
  readonly value: string;
}
/**
 * What is wrong with an identifier's value, as the end of a sentence about it; `undefined` if it can be sent in a
 * request. Characters are Unicode code points. White space at the ends would be lost in a header.
 */
export function identifierFault(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  // Fast check first: a character has at most two code units.
  if (value.length > 2 * maximumLength || [...value].length > maximumLength) {
    return `must have at most ${maximumLength} characters`;
  }
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'must be well-formed Unicode without control characters';
  return value.trim() === value ? undefined : 'must not begin or end with white space';
}

const maximumLength = 200;

export type PatientIdentifier = Identifier<PatientIdentifierType>;
export type ResourceIdentifier = Identifier<ResourceIdentifierType>;
