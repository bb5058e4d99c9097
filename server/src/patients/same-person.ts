import type { Patient } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { NamedPatient } from './plan.ts';

/**
 * A record that was found by its number is shown only to a caller who knows the family name and birth date too: a mistyped
 * number is another person's.
 *
 * @throws Problem `patient_mismatch`
 */
export function assertSamePerson(
  { familyName, birthDate }: Patient,
  named: Pick<NamedPatient, 'familyName' | 'birthDate'>,
): void {
  const isSame = birthDate === named.birthDate && folded(familyName ?? '') === folded(named.familyName);
  if (!isSame) throw new Problem('patient_mismatch');
}

/** Without regard to upper and lower case, and to white space. */
function folded(name: string): string {
  return name.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}
