import { type FhirDevice, type FhirLocation, type FhirResource, localReference, referenceTo } from '../fhir.ts';
import type { SearchParameters } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import type { DirectoryOptions } from './options.ts';

/**
 * The rooms and devices in the care unit's location. `null`: the server rejects the search for them, so only its
 * schedules name them.
 */
export async function loadPlace(
  unit: CareUnitSettings,
  { client, knows }: DirectoryOptions,
): Promise<readonly FhirResource[] | null> {
  const searches = searchesForPlace(unit).filter(([type]) => knows(type));
  try {
    const found = await Promise.all(
      searches.map(([type, name, value]) => {
        const parameters: SearchParameters = [
          [name, value],
          ['_count', String(defaultPageSize)],
        ];
        return client.search(type, parameters);
      }),
    );
    // Some servers ignore a search parameter that they do not know.
    return found.flat().filter((it) => isInPlace(it, unit));
  } catch (error) {
    if (isRejection(error)) return null;
    throw error;
  }
}

/** https://hl7.org/fhir/R4/location.html#search, https://hl7.org/fhir/R4/device.html#search */
function searchesForPlace({ resources, location, organization }: CareUnitSettings) {
  if (resources) return [];
  if (location !== undefined) {
    return [['Location', 'partof', location] as const, ['Device', 'location', location] as const];
  }
  if (organization === undefined) return [];
  return [['Location', 'organization', organization] as const, ['Device', 'organization', organization] as const];
}

/** Whether a room or device names the care unit's location. */
export function isInPlace(resource: FhirResource, { location: place, organization }: CareUnitSettings): boolean {
  const { partOf, managingOrganization } = resource as FhirLocation;
  const { location, owner } = resource as FhirDevice;
  const wanted = place ?? organization;
  if (wanted === undefined) return false;
  const places = [partOf, managingOrganization, location, owner].map((it) => localReference(it));
  return referenceTo(resource) === wanted || places.includes(wanted);
}
