import type { Resource, Schedule } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { agendasById, readDirectory } from './directory.ts';
import { asIncluded, type ListedType, searchDirectory } from './directory-search.ts';
import { accessOf, baseOf, unknownResource } from './face.ts';
import { readReference } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { shows } from './native.ts';
import { readStarts } from './search/dates.ts';
import { anyOf, groupsOf, type Search, takesActive, tokensOf } from './search/input.ts';
import { isOfType } from './services.ts';
import { toBookable, toCareUnitLocation, toHealthcareService, typeOfKind } from './to-fhir/resource.ts';
import { type Agenda, agendaId, toSchedule } from './to-fhir/schedule-and-slot.ts';

async function read(request: FastifyRequest, id: string): Promise<Schedule> {
  const agenda = agendasById(await readDirectory(request)).get(id);
  const schedule = agenda && toSchedule(agenda, accessOf(request).careUnit, (it) => shows(request, it));
  if (!schedule) throw unknownResource('schedule_not_found');
  return schedule;
}

export const listedSchedules: ListedType = {
  type: 'Schedule',
  parameters: ['_id', 'actor', 'active', 'service-type', 'date'],
  includable: ['Schedule:actor'],
  needs: ['resources', 'services'],
  matching(request, search) {
    const { careUnit } = accessOf(request);
    const matches = readFilter(search, careUnit, baseOf(request));
    // A Schedule has no planningHorizon, which begins and ends it, so every date is within it.
    readStarts(search.filters.get('date') ?? [], 'date', careUnit.timeZone);
    return ({ agendas }) =>
      agendas.filter(matches).map((agenda) => ({
        id: agendaId(agenda),
        shown: toSchedule(agenda, careUnit, (it) => shows(request, it)),
        included: () => actorsOf(request, [agenda], search.includes).map(asIncluded),
      }));
  },
};

/** Schedule: one service of one resource. There is none in the EHR. */
const declared = { scopes: ['resources:read'], audit: 'none' } as const;
export const scheduleInteractions = [
  fhirRead('Schedule', { name: 'fhir_read_schedule', ...declared }, read),
  ...fhirSearch(
    'Schedule',
    { name: 'fhir_search_schedule', ...declared },
    searchDirectory(listedSchedules, readDirectory),
  ),
];

function readFilter(search: Search, careUnit: CareUnitConnection, base: string): (agenda: Agenda) => boolean {
  const ids = anyOf(search, '_id');
  const actors = groupsOf(search, 'actor');
  const isActiveTaken = takesActive(search);
  const types = tokensOf(search, 'service-type');
  return (agenda) =>
    (!ids || ids.includes(agendaId(agenda))) &&
    actors.every((it) => hasActor(it, agenda, careUnit, base)) &&
    isActiveTaken &&
    (!types || types.some((it) => isOfType(it, agenda.service)));
}

/** Whether any of references, or bare ids, names an actor of a Schedule. */
export function hasActor(
  texts: readonly string[],
  agenda: Agenda,
  careUnit: CareUnitConnection,
  base: string,
): boolean {
  const references = (toSchedule(agenda, careUnit, () => false)?.actor ?? []).flatMap(
    ({ reference }) => reference ?? [],
  );
  const ids = references.map((it) => it.split('/')[1]);
  return texts.some((text) => {
    const wanted = readReference(text, base);
    return wanted ? references.includes(`${wanted.type}/${wanted.id}`) : ids.includes(text);
  });
}

/** `Schedule:actor` in all its forms: with `:iterate` it follows the Schedules of Slots. */
export function actorsOf(request: FastifyRequest, agendas: readonly Agenda[], includes: readonly string[]): Resource[] {
  const { careUnit } = accessOf(request);
  const wants = (type: string) =>
    shows(request, type) && (includes.includes('Schedule:actor') || includes.includes(`Schedule:actor:${type}`));
  const found = new Map<string, Resource>();
  const add = (resource: Resource | undefined) => {
    if (resource && wants(resource.resourceType)) found.set(`${resource.resourceType}/${resource.id}`, resource);
  };
  for (const { resource, service } of agendas) {
    if (wants(typeOfKind[resource.kind])) add(toBookable(resource, careUnit));
    add(toHealthcareService(service, careUnit));
    add(toCareUnitLocation(careUnit));
  }
  return [...found.values()];
}
