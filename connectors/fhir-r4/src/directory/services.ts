import { unknownService } from '../directory.ts';
import {
  compare,
  type FhirAppointment,
  type FhirHealthcareService,
  type FhirSchedule,
  localReference,
} from '../fhir.ts';
import { actorsOf } from '../mappers/appointment.ts';
import {
  type BookableService,
  configuredService,
  discoveredService,
  hasCoding,
} from '../mappers/healthcare-service.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import { actorsOfSchedule } from './actors.ts';
import type { DirectoryOptions } from './options.ts';

/** The services that can be booked in a care unit, by id. */
export async function loadServices(
  unit: CareUnitSettings,
  { client, settings }: DirectoryOptions,
): Promise<readonly BookableService[]> {
  if (settings.healthcare_services) {
    return settings.healthcare_services.map(configuredService).sort((a, b) => compare(a.id, b.id));
  }
  const all = await client.search<FhirHealthcareService>('HealthcareService', [['_count', String(defaultPageSize)]]);
  const isHere = ({ location, providedBy }: FhirHealthcareService) => {
    const places = (location ?? []).map((it) => localReference(it));
    if (unit.location !== undefined && places.length > 0) return places.includes(unit.location);
    const provider = localReference(providedBy);
    return unit.organization === undefined || provider === undefined || provider === unit.organization;
  };
  return all
    .filter((service) => service.active !== false && isHere(service))
    .map(discoveredService)
    .sort((a, b) => compare(a.id, b.id));
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
