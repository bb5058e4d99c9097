import { ConnectorError } from '../errors.ts';
import type { Identifier } from '../identifiers.ts';
import type { Patient } from '../records.ts';

/** The EHR's own id, then the numbers of a type that are known. */
export function identifiersOf(id: string, type?: string, ...numbers: readonly (string | undefined)[]) {
  const known = numbers.flatMap((value): Identifier<string>[] =>
    type === undefined || value === undefined ? [] : [{ type, value }],
  );
  return [{ type: 'emr_id', value: id }, ...known];
}

/** The one patient who was found by a number, however often. @throws ConnectorError `patient_ambiguous` if there are several */
export function onlyPatient(found: readonly Patient[]): Patient | null {
  const [patient, ...others] = new Map(found.map((it) => [it.id, it])).values();
  if (others.length > 0) throw new ConnectorError('patient_ambiguous', 'The EHR has several patients with this number');
  return patient ?? null;
}
