import type { KeyRing } from './key-ring.ts';

/** Stand for the patients of one EHR that has no patient look-up. */
export interface PatientTokens {
  /** The token of an EHR's patient id. The same id gives the same token while the newest secret key stays. */
  seal(id: string): string;
  /** `undefined`: not a token of this EHR, or its secret key is unknown. */
  open(token: string): string | undefined;
}

/**
 * @param emr the id of the EHR, outside which the tokens mean nothing
 * @param what what the tokens stand for, outside which they mean nothing either
 */
export function patientTokens(
  keys: KeyRing,
  emr: string,
  what: 'patient' | 'appointment of a patient' = 'patient',
): PatientTokens {
  const context = `${what} of ${emr}`;
  return {
    seal: (id) => keys.sealAlike('patient-token', id, context).toString('base64url'),
    open(token) {
      const sealed = Buffer.from(token, 'base64url');
      // Base64 can be written in several ways.
      if (sealed.toString('base64url') !== token) return undefined;
      return keys.open('patient-token', sealed, context);
    },
  };
}

/**
 * The patient behind an id: what its token stands for, and any other id as it is. Hashes are made of it, because tokens change
 * with the secret key.
 */
export function patientBehind(keys: KeyRing, emr: string, id: string): string {
  return patientTokens(keys, emr).open(id) ?? id;
}
