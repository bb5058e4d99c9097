import type { HealthcareService, Location } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { startsWith } from './bookables.ts';
import { allServices, directoryOf } from './directory.ts';
import { asIncluded, type ListedType, searchDirectory } from './directory-search.ts';
import { accessOf, baseOf, unknownResource } from './face.ts';
import { fromFhirId, readReference, toFhirId } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { shows } from './native.ts';
import { anyOf, type Search, takesActive, tokensOf } from './search/input.ts';
import type { Token } from './search/parameters.ts';
import { type ServiceBody, toCareUnitLocation, toHealthcareService } from './to-fhir/resource.ts';
import { urls } from './urls.ts';

/** HealthcareService: what can be booked for. */
const type = 'HealthcareService';

async function read(request: FastifyRequest, id: string): Promise<HealthcareService> {
  const native = fromFhirId(id);
  const body = (await allServices(request)).find((it) => it.id === native);
  const service = body && toHealthcareService(body, accessOf(request).careUnit);
  if (!service) throw unknownResource('healthcare_service_not_found');
  return service;
}

export const listedServices: ListedType = {
  type,
  parameters: ['_id', 'active', 'name', 'service-type', 'identifier', 'location'],
  includable: ['HealthcareService:location'],
  needs: ['services'],
  matching(request, search) {
    const { careUnit } = accessOf(request);
    const location = toCareUnitLocation(careUnit);
    const matches = readFilter(search, location, baseOf(request));
    const isIncluded = search.includes.includes('HealthcareService:location') && shows(request, 'Location');
    return ({ services }) =>
      services.filter(matches).map((it) => ({
        id: it.id,
        shown: toHealthcareService(it, careUnit),
        included: () => (isIncluded ? [asIncluded(location)] : []),
      }));
  },
};

const declared = { scopes: ['resources:read', 'appointments:read'], audit: 'none' } as const;
export const serviceInteractions = [
  fhirRead(type, { name: 'fhir_read_healthcareservice', ...declared }, read),
  ...fhirSearch(
    type,
    { name: 'fhir_search_healthcareservice', ...declared },
    searchDirectory(listedServices, async (request) => directoryOf([], await allServices(request))),
  ),
];

function readFilter(search: Search, location: Location, base: string): (service: ServiceBody) => boolean {
  const ids = anyOf(search, '_id');
  const names = anyOf(search, 'name');
  const isActiveTaken = takesActive(search);
  const types = tokensOf(search, 'service-type');
  const identifiers = anyOf(search, 'identifier');
  const locations = anyOf(search, 'location')?.map((it) => readReference(it, base)?.id ?? it);
  return (service) =>
    (!ids || ids.includes(toFhirId(service.id) ?? '')) &&
    (!names || names.some((name) => startsWith(service.name, name))) &&
    isActiveTaken &&
    (!types || types.some((token) => isOfType(token, service))) &&
    // No service has another identifier than its code.
    !identifiers &&
    (!locations || locations.includes(location.id ?? ''));
}

/** Whether a token of `service-type` names a service, by its id or by one of its codes. */
export function isOfType({ system, value }: Token, service: Pick<ServiceBody, 'id'> & Partial<ServiceBody>): boolean {
  const codings = [{ system: urls.services, code: service.id }, ...(service.codes ?? [])];
  return codings.some(
    (it) => (system === undefined || system === (it.system ?? '')) && (value === '' || value === it.code),
  );
}
