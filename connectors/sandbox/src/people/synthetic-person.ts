import type { Gender, PatientIdentifier } from '@crossward/connector-kit';

/** Data of one patient. The remaining fields are derived from the position in the list. */
export interface SyntheticPerson {
  readonly givenName: string;
  readonly familyName: string;
  readonly gender: Gender;
  readonly birthDate: string;
  readonly nationalNumber?: PatientIdentifier;
}

/** A country's synthetic people: twenty patients, the names of practitioners, and the address of the patients. */
export interface SyntheticPopulation {
  readonly patients: readonly SyntheticPerson[];
  readonly practitionerNames: readonly string[];
  /** E.164 number of the n-th patient, from a range that is never assigned. */
  phone(n: number): string;
  readonly street: string;
  readonly postalCode: string;
  readonly city: string;
  readonly country: string;
}

type Row = readonly [givenName: string, familyName: string, gender: 'male' | 'female', birthDate: string];

export function people(rows: readonly Row[], numbers: readonly PatientIdentifier[]): SyntheticPerson[] {
  return rows.map(([givenName, familyName, gender, birthDate], index) => {
    const nationalNumber = numbers[index];
    return { givenName, familyName, gender, birthDate, ...(nationalNumber ? { nationalNumber } : {}) };
  });
}
