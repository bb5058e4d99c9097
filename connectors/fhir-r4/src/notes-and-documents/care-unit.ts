import type { CareUnitDirectory } from '../directory/directory.ts';
import { namesPlace } from '../directory/roles.ts';
import {
  type FhirDocumentReference,
  type FhirPractitionerRole,
  localReference,
  type Reference,
  referenceTo,
  typeOf,
} from '../fhir.ts';
import type { FhirClient } from '../server/client.ts';

/** The identifier of a document that was written for a care unit without a place in the EHR. */
const careUnitSystem = 'urn:crossward:care-unit';

/** Which documents a care unit shows: those that name it, or all that name no other one. */
export type CareUnitRule = 'recorded' | 'any';

/** The elements by which a new document names its care unit. */
export function careUnitElements({ careUnitId, location, organization }: CareUnitDirectory): {
  readonly related: readonly { readonly reference: string }[];
  readonly elements: Pick<FhirDocumentReference, 'custodian' | 'identifier'>;
} {
  const hasPlace = location !== undefined || organization !== undefined;
  return {
    related: location === undefined ? [] : [{ reference: location }],
    elements: {
      ...(organization === undefined ? {} : { custodian: { reference: organization } }),
      ...(hasPlace ? {} : { identifier: [{ system: careUnitSystem, value: careUnitId }] }),
    },
  };
}

/**
 * The documents that the care unit shows. The directory knows all roles at the care unit, and not all others: those that
 * matter are read.
 */
export async function ofCareUnit(
  client: Pick<FhirClient, 'readAllowed'>,
  documents: readonly FhirDocumentReference[],
  directory: CareUnitDirectory,
  rule: CareUnitRule,
): Promise<readonly FhirDocumentReference[]> {
  const shown = documents.filter((it) => isOfCareUnit(it, directory, rule));
  const unknown = shown
    .flatMap(({ author = [] }) => author.flatMap((it) => localReference(it) ?? []))
    .filter((it) => typeOf(it) === 'PractitionerRole' && directory.practitionerOf(it) === undefined);
  if (unknown.length === 0) return shown;
  const roles = await client.readAllowed<FhirPractitionerRole>(unknown);
  const elsewhere = new Set(roles.filter((role) => namesPlace(role, directory)).map(referenceTo));
  return shown.filter((it) => isOfCareUnit(it, directory, rule, elsewhere));
}

/**
 * Whether the care unit shows the document. A Location decides; then the place of an author's role; then the custodian.
 * A care unit without a place shows what was written for it and whatever names no care unit.
 *
 * @param elsewhere roles of other care units that the directory does not know
 */
export function isOfCareUnit(
  document: FhirDocumentReference,
  directory: CareUnitDirectory,
  rule: CareUnitRule,
  elsewhere: ReadonlySet<string> = new Set(),
): boolean {
  const { careUnitId, location, organization } = directory;
  const written = document.identifier?.find(({ system }) => system === careUnitSystem)?.value;
  if (written !== undefined) return written === careUnitId;
  const referencesOf = (references: readonly Reference[] = []) => references.flatMap((it) => localReference(it) ?? []);
  const related = referencesOf(document.context?.related).filter((it) => typeOf(it) === 'Location');
  const custodian = referencesOf(document.custodian && [document.custodian]);
  for (const names of [related, referencesOf(document.author), custodian]) {
    const sides = names.map((it) => (elsewhere.has(it) ? 'elsewhere' : directory.sideOf(it)));
    if (sides.includes('here')) return true;
    if (sides.includes('elsewhere')) return false;
  }
  return rule === 'any' || (location === undefined && organization === undefined);
}
