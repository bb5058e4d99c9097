import type { CareUnitDirectory } from '../directory/directory.ts';
import { onlyService, servicesOfTypes } from '../directory/service-types.ts';
import type { FhirSchedule, FhirSlot } from '../fhir.ts';
import { type BookableService, hasCoding } from '../mappers/healthcare-service.ts';
import type { FhirConnection } from '../server/connection.ts';
import type { FhirSettings } from '../settings.ts';

type Services = NonNullable<FhirSettings['healthcare_services']>;
type Service = Services[number];

/** The resources of a care unit, and some of their free Slots. */
export interface SeenCareUnit {
  readonly directory: CareUnitDirectory;
  readonly slots: readonly FhirSlot[];
}

/** The resources without services: no service matches their schedules, or none matches their free Slots. */
export function unmappedResources({ directory, slots }: SeenCareUnit): readonly string[] {
  const offers = slots.map((slot) => directory.offerOf(slot));
  return directory.resources
    .filter(({ id, healthcareServiceIds }) => {
      const own = offers.filter((offer) => offer?.resourceId === id);
      const fits = own.length === 0 || own.some((offer) => offer && offer.services.length > 0);
      return healthcareServiceIds.length === 0 || !fits;
    })
    .map(({ id }) => id);
}

/**
 * The setting `healthcare_services`, with the configured services and the service types of these care units' schedules
 * and Slots that no service has. One service for everything if nothing has a type.
 */
export async function servicesInUse(
  { client, settings }: FhirConnection,
  seen: readonly SeenCareUnit[],
): Promise<Services> {
  const references = new Set(seen.flatMap(({ directory }) => directory.schedulesOf(undefined)));
  const schedules = await client.readMany<FhirSchedule>([...references]);
  const known = settings.healthcare_services ?? [];
  const concepts = [...schedules, ...seen.flatMap(({ slots }) => slots)]
    .flatMap(({ serviceType }) => serviceType ?? [])
    .filter((concept) => !known.some((service) => hasCoding(asBookable(service), [concept])));
  const services = [...known, ...servicesOfTypes(concepts, known)];
  return services.length > 0 ? services : [onlyService];
}

function asBookable({ id, name, service_types = [], reference }: Service): BookableService {
  return { id, name, durationMinutes: null, codings: service_types, reference };
}
