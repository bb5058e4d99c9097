import type { FhirClient } from '../client.ts';
import type { CodeableConcept, FhirSchedule, FhirSlot } from '../fhir.ts';
import { defaultPageSize, type FhirSettings } from '../settings.ts';

type Services = NonNullable<FhirSettings['healthcare_services']>;

/**
 * The setting `healthcare_services` from the service types of the server's schedules and of these slots. One service for
 * everything if they have none.
 */
export async function servicesInUse(client: FhirClient, slots: readonly FhirSlot[]): Promise<Services> {
  const schedules = await client.search<FhirSchedule>('Schedule', [['_count', String(defaultPageSize)]]);
  const services = new Map<string, Services[number]>();
  for (const concept of [...schedules, ...slots].flatMap(({ serviceType }) => serviceType ?? [])) {
    const service = serviceOf(concept);
    if (service && !services.has(service.id)) services.set(service.id, service);
  }
  return services.size > 0 ? [...services.values()] : [{ id: 'visit', name: 'Visit' }];
}

function serviceOf({ coding = [], text }: CodeableConcept): Services[number] | undefined {
  const types = coding.flatMap(({ system, code }) =>
    code === undefined ? [] : [{ code, ...(system === undefined ? {} : { system }) }],
  );
  const [first] = types;
  if (!first) return undefined;
  const name = text ?? coding.find(({ display }) => display !== undefined)?.display ?? first.code;
  return { id: first.code, name, service_types: types };
}
