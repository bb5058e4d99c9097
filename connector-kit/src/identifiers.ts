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
export const resourceIdentifierTypes = ['emr_id', 'se_personal_number', 'no_personal_number', 'hsa_id'] as const;

export type PatientIdentifierType = (typeof patientIdentifierTypes)[number];
export type ResourceIdentifierType = (typeof resourceIdentifierTypes)[number];

export interface Identifier<Type extends string> {
  readonly type: Type;
  readonly value: string;
}
export type PatientIdentifier = Identifier<PatientIdentifierType>;
export type ResourceIdentifier = Identifier<ResourceIdentifierType>;
