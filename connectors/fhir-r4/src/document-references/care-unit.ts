import type { CareUnitDirectory } from '../directory.ts';
import { type FhirDocumentReference, localReference, typeOf } from '../fhir.ts';

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
 * Whether the care unit shows the document. A Location decides; then the place of an author's role; then the custodian.
 * A care unit without a place shows what was written for it and whatever names no care unit.
 */
export function isOfCareUnit(
  document: FhirDocumentReference,
  directory: CareUnitDirectory,
  rule: CareUnitRule,
): boolean {
  const { careUnitId, location, organization } = directory;
  const written = document.identifier?.find(({ system }) => system === careUnitSystem)?.value;
  if (written !== undefined) return written === careUnitId;
  const related = (document.context?.related ?? []).flatMap((it) => localReference(it) ?? []);
  const places = related.filter((it) => typeOf(it) === 'Location').map(directory.sideOf);
  if (places.includes('here')) return true;
  if (places.includes('elsewhere')) return false;
  if (rule === 'any' || (location === undefined && organization === undefined)) return true;
  const roles = (document.author ?? []).flatMap((it) => localReference(it) ?? []).map(directory.sideOf);
  if (roles.includes('here')) return true;
  if (roles.includes('elsewhere')) return false;
  return organization !== undefined && localReference(document.custodian) === organization;
}
