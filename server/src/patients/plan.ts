import type { Gender, Patient, PatientIdentifier } from '@crossward/connector-kit';

/** Stored with every write. Must not change. */
export const patientKindName = 'patient';

/** Whom the caller names. Stored encrypted, until the write ends. */
export interface NamedPatient {
  readonly identifier: PatientIdentifier;
  readonly givenName: string;
  readonly familyName: string;
  readonly birthDate: string;
  readonly gender: Gender | null;
  readonly phone: string | null;
  readonly email: string | null;
  readonly address: Patient['address'];
}

/** What is stored before the EHR is called. */
export interface PatientPlan {
  readonly named: NamedPatient;
  /** The patient, if the EHR had one with this identifier already. */
  readonly found: Patient | null;
  /** Whether the client may read patients. Absent in plans of earlier versions: no. */
  readonly showsContact?: boolean;
}
