import { isSameName, type Patient } from '@crossward/connector-kit';
import type { NamedPatient } from './plan.ts';

/**
 * Whether a record that was found by its number is of whom the caller names. It is shown only to a caller who knows the family
 * name and birth date too: a mistyped number is another person's.
 */
export function isSamePerson(
  { givenName, familyName, birthDate }: Patient,
  named: Pick<NamedPatient, 'givenName' | 'familyName' | 'birthDate'>,
): boolean {
  const names = [named.familyName];
  // An EHR can have the whole name in one text, and nobody knows which words are the family's.
  if (givenName === null)
    names.push(`${named.givenName} ${named.familyName}`, `${named.familyName} ${named.givenName}`);
  return birthDate === named.birthDate && names.some((it) => isSameName(familyName, it));
}
