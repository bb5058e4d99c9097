import { unknownService } from '../directory.ts';
import {
  compare,
  type FhirAppointment,
  type FhirHealthcareService,
  type FhirSchedule,
  localReference,
  referenceTo,
} from '../fhir.ts';
import { actorsOf } from '../mappers/appointment.ts';
import {
  type BookableService,
  configuredService,
  discoveredService,
  hasCoding,
} from '../mappers/healthcare-service.ts';
import { isRejection } from '../outcome.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import { actorsOfSchedule } from './actors.ts';
import type { DirectoryOptions } from './options.ts';

export interface LoadedServices {
  /** Those that can be booked in the care unit, by id. */
  readonly services: readonly BookableService[];
  /** The resources, those of other care units too. */
  readonly resources: readonly FhirHealthcareService[];
}

export async function loadServices(
  unit: CareUnitSettings,
  { client, settings, knows }: DirectoryOptions,
): Promise<LoadedServices> {
  if (settings.healthcare_services) {
    const services = settings.healthcare_services.map(configuredService).sort((a, b) => compare(a.id, b.id));
    const references = services.flatMap(({ reference }) => reference ?? []);
    if (references.length === 0 || !knows('HealthcareService')) return { services, resources: [] };
    const resources = client.readMany<FhirHealthcareService>(references).catch((error: unknown) => {
      if (isRejection(error)) return [];
      throw error;
    });
    return { services, resources: await resources };
  }
  const all = await client.search<FhirHealthcareService>('HealthcareService', [['_count', String(defaultPageSize)]]);
  const isHere = ({ location, providedBy }: FhirHealthcareService) => {
    const places = (location ?? []).map((it) => localReference(it));
    if (unit.location !== undefined && places.length > 0) return places.includes(unit.location);
    const provider = localReference(providedBy);
    return unit.organization === undefined || provider === undefined || provider === unit.organization;
  };
  const services = all
    .filter((service) => service.active !== false && isHere(service))
    .map(discoveredService)
    .sort((a, b) => compare(a.id, b.id));
  return { services, resources: all };
}

/** The services that are provided in one of these locations, or by one of these organizations, as references. */
export function servicesIn(
  services: readonly FhirHealthcareService[],
  isPlace: (reference: string) => boolean,
): ReadonlySet<string> {
  const named = ({ location = [], providedBy }: FhirHealthcareService) =>
    (location.length > 0 ? location : [providedBy]).flatMap((it) => localReference(it) ?? []);
  return new Set(services.filter((it) => named(it).some(isPlace)).map(referenceTo));
}

/** The services of a schedule: those that it names, or those of its service types, or all. */
export function offeredBy(schedule: FhirSchedule, services: readonly BookableService[]): readonly BookableService[] {
  const actors = actorsOfSchedule(schedule);
  const named = services.filter(({ reference }) => reference !== undefined && actors.includes(reference));
  if (named.length > 0) return named;
  const typed = (schedule.serviceType ?? []).some(({ coding }) => (coding ?? []).length > 0);
  return typed ? services.filter((it) => hasCoding(it, schedule.serviceType)) : services;
}

/** The id of an appointment's service. */
export function serviceOf(appointment: FhirAppointment, services: readonly BookableService[]): string {
  const actors = actorsOf(appointment);
  const texts = (appointment.serviceType ?? []).map(({ text }) => text);
  const service =
    services.find(({ reference }) => reference !== undefined && actors.includes(reference)) ??
    services.find((it) => hasCoding(it, appointment.serviceType)) ??
    services.find(({ name }) => texts.includes(name)) ??
    (services.length === 1 ? services[0] : undefined);
  return service?.id ?? unknownService;
}
