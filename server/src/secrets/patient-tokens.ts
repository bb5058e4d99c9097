import type { PatientIdentifierType } from '@crossward/connector-kit';
import type { KeyRing } from './key-ring.ts';

/** Stand for the patients of one EHR that has no patient look-up. */
export interface PatientTokens {
  /** The token of an EHR's patient id. The same id gives the same token while the newest secret key stays. */
  seal(id: string): string;
  /**
   * A token of at most 64 letters, digits, `-` and `.`, as ids of FHIR resources are. `undefined`: none so short stands for the id.
   */
  sealShort(id: string): string | undefined;
  /** Of either form. `undefined`: not a token of this EHR, or its secret key is unknown. */
  open(token: string): string | undefined;
}

/** Tokens without a `.` are long ones. */
const short = 'p.';
const longestShort = 64;
/** Each stands for a type of number in a short token. The numbers never change. */
const types = new Map<number, Exclude<PatientIdentifierType, 'emr_id'>>([
  [1, 'no_personal_number'],
  [2, 'se_personal_number'],
  [3, 'nhs_number'],
]);

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
  function openLong(token: string): string | undefined {
    const sealed = Buffer.from(token, 'base64url');
    // Base64 can be written in several ways.
    if (sealed.toString('base64url') !== token) return undefined;
    return keys.open('patient-token', sealed, context);
  }
  return {
    seal: (id) => keys.sealAlike('patient-token', id, context).toString('base64url'),
    sealShort(id) {
      const [number] = [...types].find(([, type]) => id.startsWith(`${type}:`)) ?? [];
      if (number === undefined) return undefined;
      const plain = String.fromCharCode(number) + id.slice(id.indexOf(':') + 1);
      const token = short + keys.sealAlike('patient-token', plain, context).toString('base64url').replaceAll('_', '.');
      return token.length <= longestShort ? token : undefined;
    },
    open(token) {
      const isShort = token.startsWith(short);
      if (isShort && token.includes('_')) return undefined;
      const plain = openLong(isShort ? token.slice(short.length).replaceAll('.', '_') : token);
      const type = types.get(plain?.charCodeAt(0) ?? 0);
      // What is sealed in the one form is no token in the other.
      if (plain === undefined || (type !== undefined) !== isShort) return undefined;
      return type === undefined ? plain : `${type}:${plain.slice(1)}`;
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
