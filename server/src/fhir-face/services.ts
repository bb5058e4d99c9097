import type { HealthcareService, Location } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { startsWith } from './bookables.ts';
import { allServices } from './directory.ts';
import { accessOf, baseOf, unknownResource } from './face.ts';
import { fromFhirId, readReference } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { shows } from './native.ts';
import { searchSet } from './search/bundle.ts';
import { anyOf, readSearch, type Search, type Token, takesActive, tokensOf } from './search/input.ts';
import { pagesById } from './search/pages.ts';
import { placeOf } from './search/place.ts';
import { toCareUnitLocation, toHealthcareService } from './to-fhir/resource.ts';
import { urls } from './urls.ts';

/** HealthcareService: what can be booked for. */
const type = 'HealthcareService';
const declared = { scopes: ['resources:read', 'appointments:read'], audit: 'none' } as const;
export const serviceInteractions = [
  fhirRead(type, { name: 'fhir_read_healthcareservice', ...declared }, read),
  ...fhirSearch(type, { name: 'fhir_search_healthcareservice', ...declared }, search),
];

async function read(request: FastifyRequest, id: string): Promise<HealthcareService> {
  const native = fromFhirId(id);
  const body = (await allServices(request)).find((it) => it.id === native);
  const service = body && toHealthcareService(body, accessOf(request).careUnit);
  if (!service) throw unknownResource('healthcare_service_not_found');
  return service;
}

async function search(request: FastifyRequest) {
  const names = ['_id', 'active', 'name', 'service-type', 'identifier', 'location'];
  const search = readSearch(request, names, ['HealthcareService:location']);
  const place = placeOf(request, 'HealthcareService', search);
  const { careUnit } = accessOf(request);
  const location = toCareUnitLocation(careUnit);
  const matches = readFilter(search, location, baseOf(request));
  return searchSet(search, place, {
    page: pagesById(request, place, async () => {
      const all = (await allServices(request)).map((it) => ({ id: it.id, shown: toHealthcareService(it, careUnit) }));
      return all.filter(({ shown }) => shown === undefined || matches(shown));
    }),
    show: ({ shown }) => shown,
    include: async (found) =>
      search.includes.includes('HealthcareService:location') && found.length > 0 && shows(request, 'Location')
        ? [location]
        : [],
  });
}

function readFilter(search: Search, location: Location, base: string): (service: HealthcareService) => boolean {
  const ids = anyOf(search, '_id');
  const names = anyOf(search, 'name');
  const isActiveTaken = takesActive(search);
  const types = tokensOf(search, 'service-type');
  const identifiers = anyOf(search, 'identifier');
  const locations = anyOf(search, 'location')?.map((it) => readReference(it, base)?.id ?? it);
  return (service) =>
    (!ids || ids.includes(service.id ?? '')) &&
    (!names || names.some((name) => startsWith(service.name ?? '', name))) &&
    isActiveTaken &&
    (!types || types.some((token) => isOfType(token, fromFhirId(service.id ?? '')))) &&
    // No service has another identifier than its code.
    !identifiers &&
    (!locations || locations.includes(location.id ?? ''));
}

/** Whether a token of `service-type` names a service. */
export function isOfType({ system, value }: Token, serviceId: string | null | undefined): boolean {
  if (serviceId === null) return false;
  return (system === undefined || system === urls.services) && (value === '' || value === serviceId);
}
