import type { FastifyRequest } from 'fastify';
import { listedBookable } from '../bookables.ts';
import { type ListedEntry, type ListedType, showListed, sortsOf } from '../directory-search.ts';
import { fhirSearch } from '../interaction.ts';
import { listedOrganizations, listedRoles } from '../roles.ts';
import { listedSchedules } from '../schedules.ts';
import { readSearch } from '../search/input.ts';
import { listedServices } from '../services.ts';
import { inAllUnits, unitName } from './unit-names.ts';
import { outcomesOf, readDirectories, type UnitRequest, unitRequests } from './units.ts';

const ofResources = { scopes: ['resources:read'], audit: 'none' } as const;
const listed = [
  ...(['Practitioner', 'Location', 'Device'] as const).map((type) => ({ ...listedBookable(type), ...ofResources })),
  ...[listedRoles, listedOrganizations, listedSchedules].map((it) => ({ ...it, ...ofResources })),
  { ...listedServices, scopes: ['resources:read', 'appointments:read'], audit: 'none' } as const,
];

/** Searches in the directories of all care units. */
export const directorySearches = listed.flatMap((it) =>
  fhirSearch(it.type, { name: `fhir_search_${it.type.toLowerCase()}`, ...it }, (request) => search(request, it)),
);

async function search(request: FastifyRequest, type: ListedType) {
  const search = readSearch(request, type.parameters, type.includable, sortsOf(type));
  const units = unitRequests(request, search).map((unit) => ({
    ...unit,
    matching: type.matching(unit.request, unit.search),
  }));
  return showListed(request, type, search, async () => {
    const { answered, missing } = await readDirectories(units, type.needs, request.server.endpointDeps);
    const byName = new Map(units.map((it) => [unitName(it), it.matching]));
    const entries = answered.flatMap((unit) =>
      (byName.get(unitName(unit))?.(unit.directory) ?? []).map((it) => inUnit(it, unit)),
    );
    return { entries, outcomes: outcomesOf(missing, request) };
  });
}

function inUnit({ id, shown, included }: ListedEntry, unit: UnitRequest): ListedEntry {
  const whole = shown && inAllUnits(shown, unit, unit.request);
  return {
    id: `${unitName(unit)}.${id}`,
    shown: whole?.id === undefined ? undefined : whole,
    ...(included && {
      included: () =>
        included().map(({ key, resource }) => ({
          key: `${unitName(unit)}.${key}`,
          resource: inAllUnits(resource, unit, unit.request),
        })),
    }),
  };
}
