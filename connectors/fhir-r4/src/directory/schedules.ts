import { chunks } from '../chunks.ts';
import type { SearchParameters } from '../client.ts';
import { type FhirResource, type FhirSchedule, localReference, referenceTo } from '../fhir.ts';
import { resourceReference } from '../resource-id.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import type { DirectoryOptions } from './options.ts';
import { practitionerOf, type Roles } from './roles.ts';

const actorsPerSearch = 20;

/**
 * The schedules that may belong to the care unit, including inactive ones. Searched by actor, because the server may
 * have many other schedules.
 */
export async function loadSchedules(
  unit: CareUnitSettings,
  roles: Roles,
  inPlace: readonly FhirResource[] | null,
  { client, settings }: DirectoryOptions,
): Promise<FhirSchedule[]> {
  const count = ['_count', String(settings.slots?.page_size ?? defaultPageSize)] as const;
  const actors = actorsHere(unit, roles, inPlace);
  const searches: SearchParameters[] = actors
    ? chunks(actors, actorsPerSearch).map((chunk) => [['actor', chunk.join(',')], count])
    : [[count]];
  const found = (await Promise.all(searches.map((it) => client.search<FhirSchedule>('Schedule', it)))).flat();
  const each = [...new Map(found.map((schedule) => [referenceTo(schedule), schedule])).values()];
  if (!actors) return each;
  const wanted = new Set(actors);
  // Some servers ignore a search parameter that they do not know.
  return each.filter(({ actor }) => (actor ?? []).some((it) => wanted.has(localReference(it) ?? '')));
}

/** The actors that a schedule of this care unit can name. `undefined`: any. */
function actorsHere(
  unit: CareUnitSettings,
  roles: Roles,
  inPlace: readonly FhirResource[] | null,
): readonly string[] | undefined {
  const people = [...roles].flatMap(([role, it]) => [role, practitionerOf(it) ?? []].flat());
  if (unit.resources) return [...new Set([...unit.resources.flatMap((id) => resourceReference(id) ?? []), ...people])];
  if ((unit.location ?? unit.organization) === undefined || inPlace === null) return undefined;
  return [
    ...new Set([...(unit.location === undefined ? [] : [unit.location]), ...inPlace.map(referenceTo), ...people]),
  ];
}
