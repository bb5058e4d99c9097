/**
 * Identifier types. Values are validated and normalised before they reach a connector:
 *
 * - `emr_id`: the EHR's own id, unchanged
 * - `no_personal_number`: 11 digits (fødselsnummer, D-number, synthetic ranges)
 * - `se_personal_number`: 12 digits, `YYYYMMDDNNNN` (personnummer, coordination number)
 * - `nhs_number`: 10 digits
 * - `hsa_id`: upper case, `SE` + ten digits + `-` + letters or digits
 */
export const patientIdentifierTypes = ['emr_id', 'no_personal_number', 'se_personal_number', 'nhs_number'] as const;
/** Identifier types of resources: see `patientIdentifierTypes`. */
export const resourceIdentifierTypes = ['emr_id', 'se_personal_number', 'no_personal_number', 'hsa_id'] as const;

export type PatientIdentifierType = (typeof patientIdentifierTypes)[number];
export type ResourceIdentifierType = (typeof resourceIdentifierTypes)[number];

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
