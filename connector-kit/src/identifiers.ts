/**
 * The identifier types of the gateway's notation. Values that reach a connector are already checked and normalised:
 *
 * - `emr_id`: the EHR's own identifier, as the EHR writes it
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
