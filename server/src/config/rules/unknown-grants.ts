import { type Mistake, type Path, quoted } from '../mistakes/mistake.ts';
import { nearest } from '../mistakes/nearest.ts';
import type { PartialFile } from './partial-file.ts';

type Emrs = NonNullable<PartialFile['emrs']>;
type Grants = NonNullable<NonNullable<NonNullable<PartialFile['clients']>[number]>['grants']>;

/** The message for an unknown id, with those that are known. `what`: what the id should name, such as an EHR. */
export type NotKnown = (id: string, what: string, known: readonly string[]) => string;

/** Grants of EHRs and care units that do not exist. */
export function unknownGrants(grants: Grants, emrs: Emrs, path: Path, notKnown: NotKnown): Mistake[] {
  const emrIds = emrs.flatMap((emr) => emr?.id ?? []);
  return grants.flatMap((grant, index): Mistake[] => {
    if (grant?.emr === undefined) return [];
    const emr = emrs.find((candidate) => candidate?.id === grant.emr);
    if (emr === undefined) {
      return [{ path: [...path, index, 'emr'], at: 'value', text: notKnown(grant.emr, 'an EHR', emrIds) }];
    }
    const careUnitIds = (emr.care_units ?? []).flatMap((careUnit) => careUnit?.id ?? []);
    return (grant.care_units ?? []).flatMap((id, place): Mistake[] => {
      if (id === undefined || careUnitIds.includes(id)) return [];
      const text = notKnown(id, `a care unit of ${grant.emr}`, careUnitIds);
      return [{ path: [...path, index, 'care_units', place], at: 'value', text }];
    });
  });
}

/** For a mistake in the file: names the one that is probably meant, otherwise all. */
export function notInFile(id: string, what: string, known: readonly string[]): string {
  const suggestion = nearest(id, known);
  if (suggestion !== undefined) return `${quoted(id)} is not ${what} in this file; did you mean "${suggestion}"?`;
  return `${quoted(id)} is not ${what} in this file${known.length > 0 ? `; known: ${known.join(', ')}` : ''}`;
}
