import type { PatientIdentifier } from './identifiers.ts';
import { hasFamilyName } from './names.ts';
import { mayHavePhone } from './phone-numbers.ts';
import type { Address, Gender, Patient } from './records.ts';
import type { Write } from './writes.ts';

/** Whom to search for. Everything in it must match. */
export type PatientSearch = { readonly limit: number } & (
  | {
      /** Compared without regard to upper and lower case. */
      readonly familyName: string;
      /** ISO 8601 calendar date. */
      readonly birthDate: string;
    }
  | {
      /** E.164. Who has it without its country code is found too, as by `isSearchedFor`. */
      readonly phone: string;
    }
);

/** A patient to create. */
export interface PatientCreation extends Write {
  /** A national number. The EHR never has two patients with it. */
  readonly identifier: PatientIdentifier;
  readonly givenName: string;
  readonly familyName: string;
  /** ISO 8601 calendar date. */
  readonly birthDate: string;
  readonly gender: Gender | null;
  /** E.164. */
  readonly phone: string | null;
  readonly email: string | null;
  readonly address: Address | null;
}

/** What a search for patients can be by. */
export const patientSearchKeys = ['name', 'phone'] as const;
export type PatientSearchKey = (typeof patientSearchKeys)[number];

/** Whether a search is for this patient. An EHR may find others too: it may compare otherwise, or ignore a parameter. */
export function isSearchedFor(patient: Patient, search: PatientSearch): boolean {
  if ('phone' in search) return mayHavePhone(patient, search.phone);
  return patient.birthDate === search.birthDate && hasFamilyName(patient, search.familyName);
}

export interface PatientOperations {
  /**
   * Patients in use, ordered by id (code units), at most `limit`. The search is in no URL and no log. It is by one of
   * `patientSearchBy` of the capabilities.
   */
  searchPatients(search: PatientSearch): Promise<readonly Patient[]>;
  /**
   * Creates the patient, unless one with this identifier exists, and returns the one that does. Of several calls at a time,
   * with whatever operation ids, one creates it.
   *
   * @returns `isNew`: this operation has created it
   */
  createPatient(creation: PatientCreation): Promise<{ readonly patient: Patient; readonly isNew: boolean }>;
}
