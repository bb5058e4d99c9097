import { chunks } from '../chunks.ts';
import type { SearchParameters } from '../client.ts';
import { type FhirPractitionerRole, type FhirSchedule, localReference, referenceTo, typeOf } from '../fhir.ts';
import { resourceReference } from '../resource-id.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import type { DirectoryOptions } from './options.ts';

/** By reference. */
export type Roles = ReadonlyMap<string, FhirPractitionerRole>;

/**
 * The roles at the care unit's location, or of the people in its settings, including inactive ones:
 * https://hl7.org/fhir/R4/practitionerrole.html
 */
export async function loadRoles(unit: CareUnitSettings, { client, knows }: DirectoryOptions): Promise<Roles> {
  const count = ['_count', String(defaultPageSize)] as const;
  const searches = knows('PractitionerRole') ? searchesForRoles(unit).map((it): SearchParameters => [it, count]) : [];
  const found = await Promise.all(searches.map((it) => client.search<FhirPractitionerRole>('PractitionerRole', it)));
  return byReference(found.flat().filter((role) => isAtPlace(role, unit)));
}

function searchesForRoles({ resources, location, organization }: CareUnitSettings): (readonly [string, string])[] {
  if (resources) {
    const practitioners = resources
      .flatMap((id) => resourceReference(id) ?? [])
      .filter((reference) => typeOf(reference) === 'Practitioner');
    return chunks(practitioners, 20).map((some) => ['practitioner', some.join(',')]);
  }
  if (location !== undefined) return [['location', location]];
  return organization === undefined ? [] : [['organization', organization]];
}

/** A role's own location decides where its practitioner works in it. Some servers ignore the search parameter. */
function isAtPlace(role: FhirPractitionerRole, { resources, location, organization }: CareUnitSettings): boolean {
  const places = (role.location ?? []).map((it) => localReference(it));
  if (location !== undefined) return places.includes(location) || (resources !== undefined && places.length === 0);
  if (organization === undefined) return true;
  const own = localReference(role.organization);
  return own === organization || (resources !== undefined && own === undefined);
}

/** The other roles that schedules name. */
export async function loadRolesOf(
  schedules: readonly FhirSchedule[],
  { client }: DirectoryOptions,
  known: Roles,
): Promise<Roles> {
  const references = schedules
    .flatMap(({ actor }) => actor ?? [])
    .flatMap((actor) => localReference(actor) ?? [])
    .filter((reference) => typeOf(reference) === 'PractitionerRole' && !known.has(reference));
  return byReference(references.length > 0 ? await client.readMany<FhirPractitionerRole>(references) : []);
}

/** Whether a role names the location where its practitioner works, in the terms that define the care unit. */
export function namesPlace(
  role: FhirPractitionerRole,
  { location, organization }: { readonly location?: string | undefined; readonly organization?: string | undefined },
): boolean {
  if (location !== undefined) return (role.location ?? []).length > 0;
  return organization !== undefined && role.organization !== undefined;
}

function byReference(roles: readonly FhirPractitionerRole[]): Roles {
  return new Map(roles.map((role) => [referenceTo(role), role]));
}

/** `Practitioner/1` of a role. */
export function practitionerOf(role: FhirPractitionerRole | undefined): string | undefined {
  return localReference(role?.practitioner);
}
