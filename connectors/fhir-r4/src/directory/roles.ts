import { type FhirPractitionerRole, type FhirSchedule, localReference, referenceTo, typeOf } from '../fhir.ts';
import { resourceReference } from '../mappers/resource.ts';
import { chunks } from '../server/chunks.ts';
import type { FhirClient, SearchParameters } from '../server/client.ts';
import { isRefusedQuestion } from '../server/outcome.ts';
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
  const found = await Promise.all(searches.map((it) => rolesFoundBy(client, it)));
  return byReference(found.flat().filter((role) => isAtPlace(role, unit)));
}

/** None if the server does not search for roles in this way: then schedules say who works where. */
async function rolesFoundBy(client: FhirClient, parameters: SearchParameters): Promise<FhirPractitionerRole[]> {
  try {
    return await client.search<FhirPractitionerRole>('PractitionerRole', parameters);
  } catch (error) {
    if (!isRefusedQuestion(error)) throw error;
    client.habits.note('PractitionerRole', `cannot be searched for by ${parameters[0]?.[0]}`);
    return [];
  }
}

function searchesForRoles({ resources, location, organization }: CareUnitSettings): (readonly [string, string])[] {
  if (resources) {
    const practitioners = resources
      .flatMap((id) => resourceReference(id) ?? [])
      .filter((reference) => typeOf(reference) === 'Practitioner');
    return chunks(practitioners, 20).map((some) => ['practitioner', some.join(',')]);
  }
  return [
    ...(location === undefined ? [] : [['location', location] as const]),
    ...(organization === undefined ? [] : [['organization', organization] as const]),
  ];
}

/**
 * A role's own location decides where its practitioner works in it, then its organization: many servers publish roles
 * without a location. Some servers ignore the search parameter.
 */
function isAtPlace(role: FhirPractitionerRole, { resources, location, organization }: CareUnitSettings): boolean {
  const places = (role.location ?? []).map((it) => localReference(it));
  if (location !== undefined && places.length > 0) return places.includes(location);
  const own = localReference(role.organization);
  if (organization !== undefined && own !== undefined) return own === organization;
  // A role that names no place belongs to the care unit whose settings name its practitioner.
  return resources !== undefined || (location ?? organization) === undefined;
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
  return byReference(references.length > 0 ? await client.readAllowed<FhirPractitionerRole>(references) : []);
}

/** Whether a role names the location where its practitioner works, in the terms that define the care unit. */
export function namesPlace(
  role: FhirPractitionerRole,
  { location, organization }: { readonly location?: string | undefined; readonly organization?: string | undefined },
): boolean {
  if (location !== undefined && (role.location ?? []).length > 0) return true;
  return organization !== undefined && role.organization !== undefined;
}

function byReference(roles: readonly FhirPractitionerRole[]): Roles {
  return new Map(roles.map((role) => [referenceTo(role), role]));
}

/** `Practitioner/1` of a role. */
export function practitionerOf(role: FhirPractitionerRole | undefined): string | undefined {
  return localReference(role?.practitioner);
}
