import type { FhirConnection } from '../connection.ts';
import type { CareUnitDirectory } from '../directory.ts';
import type { CodeableConcept, Coding, FhirSchedule, FhirSlot } from '../fhir.ts';
import { type BookableService, hasCoding } from '../mappers/healthcare-service.ts';
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
  const services = [...known, ...withOwnIds(grouped(concepts), known)];
  return services.length > 0 ? services : [{ id: 'visit', name: 'Visit' }];
}

/** One service for each first coding, with all the codings that come with it. */
function grouped(concepts: readonly CodeableConcept[]): readonly Service[] {
  const coded = concepts.filter(({ coding }) => typesOf(coding).length > 0);
  return [...Map.groupBy(coded, ({ coding }) => keyOf(typesOf(coding)[0]))].map(([, same]) => {
    const types = new Map(same.flatMap(({ coding }) => typesOf(coding)).map((type) => [keyOf(type), type]));
    const service_types = [...types.values()];
    const code = service_types[0]?.code ?? '';
    const display = same.flatMap(({ coding = [] }) => coding).find((it) => it.display !== undefined)?.display;
    return { id: code, name: same.find(({ text }) => text !== undefined)?.text ?? display ?? code, service_types };
  });
}

/** Codes of different systems can be equal. */
function withOwnIds(services: readonly Service[], known: readonly Service[]): readonly Service[] {
  const taken = new Set(known.map(({ id }) => id));
  return services.map((service) => {
    let id = service.id;
    for (let count = 2; taken.has(id); count++) id = `${service.id}-${count}`;
    taken.add(id);
    return { ...service, id };
  });
}

type ServiceType = NonNullable<Service['service_types']>[number];

function typesOf(coding: readonly Coding[] = []): readonly ServiceType[] {
  return coding.flatMap(({ system, code }) =>
    code === undefined ? [] : [{ ...(system === undefined ? {} : { system }), code }],
  );
}

function keyOf(type: ServiceType | undefined): string {
  return `${type?.system ?? ''}|${type?.code}`;
}

function asBookable({ id, name, service_types = [], reference }: Service): BookableService {
  return { id, name, durationMinutes: null, codings: service_types, reference };
}
