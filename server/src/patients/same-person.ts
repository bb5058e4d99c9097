import { isSameName, type Patient } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { NamedPatient } from './plan.ts';

/**
 * A record that was found by its number is shown only to a caller who knows the family name and birth date too: a mistyped
 * number is another person's.
 *
 * @throws Problem `patient_mismatch`
 */
export function assertSamePerson(
  { givenName, familyName, birthDate }: Patient,
  named: Pick<NamedPatient, 'givenName' | 'familyName' | 'birthDate'>,
): void {
  const names = [named.familyName];
  // An EHR can have the whole name in one text, and nobody knows which words are the family's.
  if (givenName === null)
    names.push(`${named.givenName} ${named.familyName}`, `${named.familyName} ${named.givenName}`);
  const isSame = birthDate === named.birthDate && names.some((it) => isSameName(familyName, it));
  if (!isSame) throw new Problem('patient_mismatch');
}
