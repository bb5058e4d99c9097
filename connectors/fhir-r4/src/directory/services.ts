import {
  compare,
  type FhirAppointment,
  type FhirHealthcareService,
  type FhirSchedule,
  type FhirSlot,
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
import { chunks } from '../server/chunks.ts';
import type { FhirClient } from '../server/client.ts';
import { isRefusedQuestion, isRejection, Refusal } from '../server/outcome.ts';
import { type CareUnitSettings, defaultPageSize } from '../settings.ts';
import { actorsOfSchedule } from './actors.ts';
import type { DirectoryOptions } from './options.ts';
import { onlyService, servicesOfTypes } from './service-types.ts';

export interface LoadedServices {
  /** Those that can be booked in the care unit, by id. `undefined`: neither the server nor the settings have any. */
  readonly services: readonly BookableService[] | undefined;
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
    return { services, resources: await client.readAllowed<FhirHealthcareService>(references) };
  }
  const all = knows('HealthcareService') ? await allServices(client) : [];
  if (all.length === 0) return { services: undefined, resources: [] };
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

/** None if the server does not have the type, or no search for it. */
async function allServices(client: FhirClient): Promise<readonly FhirHealthcareService[]> {
  try {
    return await client.search<FhirHealthcareService>('HealthcareService', [['_count', String(defaultPageSize)]]);
  } catch (error) {
    if (isRefusedQuestion(error) || (error instanceof Refusal && error.status === 404 && !error.fault)) return [];
    throw error;
  }
}

/** For how long ahead free Slots are looked at to see what can be booked. */
const lookAheadMilliseconds = 28 * 24 * 60 * 60 * 1000;

/**
 * The services of a server without HealthcareServices, from the service types of these schedules and of their next free
 * Slots. One service if nothing has a type.
 */
export async function servicesOfSchedules(
  schedules: readonly FhirSchedule[],
  { client }: DirectoryOptions,
): Promise<readonly BookableService[]> {
  const slots = await nextSlots(client, schedules.map(referenceTo));
  const concepts = [...schedules, ...slots].flatMap(({ serviceType }) => serviceType ?? []);
  const found = servicesOfTypes(concepts);
  client.habits.note('HealthcareService', 'there is none, so services are those of Slots and Schedules');
  return (found.length > 0 ? found : [onlyService]).map(configuredService).sort((a, b) => compare(a.id, b.id));
}

/** One page of them for each group of schedules. */
async function nextSlots(client: FhirClient, schedules: readonly string[]): Promise<readonly FhirSlot[]> {
  const now = client.clock.now().getTime();
  const first = async (some: readonly string[]) => {
    const pages = client.pages(
      'Slot',
      [
        ['schedule', some.join(',')],
        ['start', `ge${new Date(now).toISOString()}`],
        ['start', `lt${new Date(now + lookAheadMilliseconds).toISOString()}`],
        ['status', 'free'],
        ['_count', String(defaultPageSize)],
      ],
      { droppable: ['status'] },
    );
    for await (const { resources } of pages) return resources as readonly FhirSlot[];
    return [];
  };
  try {
    return (await Promise.all(chunks(schedules, 20).map(first))).flat();
  } catch (error) {
    if (isRejection(error)) return [];
    throw error;
  }
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

/** The service that an appointment names by reference, by its codes, or by its name. */
export function serviceOf(
  appointment: FhirAppointment,
  services: readonly BookableService[],
): BookableService | undefined {
  const actors = actorsOf(appointment);
  const texts = (appointment.serviceType ?? []).map(({ text }) => text);
  return (
    services.find(({ reference }) => reference !== undefined && actors.includes(reference)) ??
    services.find((it) => hasCoding(it, appointment.serviceType)) ??
    services.find(({ name }) => texts.includes(name))
  );
}
