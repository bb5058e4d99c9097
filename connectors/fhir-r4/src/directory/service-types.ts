import type { CodeableConcept, Coding } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';

type Service = NonNullable<FhirSettings['healthcare_services']>[number];
type ServiceType = NonNullable<Service['service_types']>[number];

/** What can be booked where nothing says what. */
export const onlyService: Service = { id: 'visit', name: 'Visit' };

/**
 * One service for each first coding of these service types, with all the codings that come with it.
 *
 * @param known other services, whose ids are taken
 */
export function servicesOfTypes(concepts: readonly CodeableConcept[], known: readonly Service[] = []): Service[] {
  const coded = concepts.filter(({ coding }) => typesOf(coding).length > 0);
  const groups = Map.groupBy(coded, ({ coding }) => keyOf(typesOf(coding)[0]));
  const services = [...groups].map(([, same]): Service => {
    const types = new Map(same.flatMap(({ coding }) => typesOf(coding)).map((type) => [keyOf(type), type]));
    const service_types = [...types.values()];
    const code = service_types[0]?.code ?? '';
    const display = same.flatMap(({ coding = [] }) => coding).find((it) => it.display !== undefined)?.display;
    return { id: code, name: same.find(({ text }) => text !== undefined)?.text ?? display ?? code, service_types };
  });
  return withOwnIds(services, known);
}

/** Codes of different systems can be equal. */
function withOwnIds(services: readonly Service[], known: readonly Service[]): Service[] {
  const taken = new Set(known.map(({ id }) => id));
  return services.map((service) => {
    let id = service.id;
    for (let count = 2; taken.has(id); count++) id = `${service.id}-${count}`;
    taken.add(id);
    return { ...service, id };
  });
}

function typesOf(coding: readonly Coding[] = []): readonly ServiceType[] {
  return coding.flatMap(({ system, code }) =>
    code === undefined ? [] : [{ ...(system === undefined ? {} : { system }), code }],
  );
}

function keyOf(type: ServiceType | undefined): string {
  return `${type?.system ?? ''}|${type?.code}`;
}
