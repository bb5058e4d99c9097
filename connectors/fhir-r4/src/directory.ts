import { type CareUnit, ConnectorError, type Resource, type ResourceIdentifierType } from '@crossward/connector-kit';
import { chunks, type FhirClient, type SearchParameters } from './client.ts';
import {
  compare,
  type FhirAppointment,
  type FhirDevice,
  type FhirHealthcareService,
  type FhirLocation,
  type FhirPractitioner,
  type FhirPractitionerRole,
  type FhirResource,
  type FhirSchedule,
  type FhirSlot,
  localReference,
  referenceTo,
  typeOf,
} from './fhir.ts';
import type { IdentifierSystems } from './identifiers.ts';
import { actorsOf, type Place } from './mappers/appointment.ts';
import { deviceResource } from './mappers/device.ts';
import { type BookableService, configuredService, discoveredService, hasCoding } from './mappers/healthcare-service.ts';
import { locationResource } from './mappers/location.ts';
import { practitionerResource } from './mappers/practitioner.ts';
import { resourceId, resourceReference } from './resource-id.ts';
import { type CareUnitSettings, defaultDirectorySeconds, defaultPageSize, type FhirSettings } from './settings.ts';

/** The service of an appointment that names none. */
export const unknownService = 'unknown';

interface Offer {
  readonly resourceId: string;
  readonly services: readonly BookableService[];
}

/** Who can be booked in a care unit, and for what. */
export interface CareUnitDirectory extends Place {
  /** Every resource of the care unit that an appointment names. The first is its own. */
  resourcesOf(appointment: FhirAppointment): readonly string[];
  readonly location: string | undefined;
  /** By id. */
  readonly resources: readonly Resource[];
  /** By id. */
  readonly services: readonly BookableService[];
  /** `Practitioner/1` of a resource's id. `undefined`: not in this care unit. */
  referenceOf(resourceId: string): string | undefined;
  /** Every reference by which appointments may name a resource: its own, and that of each known role. */
  namesOf(resourceId: string): readonly string[];
  schedulesOf(resourceIds: readonly string[] | undefined): readonly string[];
  /** The actors of schedules, as the schedules name them, for a search by `schedule.actor`. */
  actorsOf(schedules: readonly string[]): readonly string[];
  /** Whose schedule it is, and what it can be booked for. `null`: not of this care unit. */
  offerOfSchedule(schedule: string): Offer | null;
  /** Whose slot it is, and what it can be booked for. `null`: not of this care unit. */
  offerOf(slot: FhirSlot): Offer | null;
}

export interface Directory {
  of(careUnit: Pick<CareUnit, 'id'>): Promise<CareUnitDirectory>;
}

export interface DirectoryOptions {
  readonly client: FhirClient;
  readonly settings: FhirSettings;
  readonly careUnits: ReadonlyMap<string, CareUnitSettings>;
  readonly systems: IdentifierSystems;
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  /** Whether the server has PractitionerRole. */
  readonly hasRoles: boolean;
}

/** Caches the directory of each care unit: schedules, staff and services rarely change, and every call needs them. */
export function createDirectory(options: DirectoryOptions): Directory {
  const lifetime = (options.settings.directory_seconds ?? defaultDirectorySeconds) * 1000;
  const known = new Map<string, { readonly until: number; readonly directory: Promise<CareUnitDirectory> }>();
  return {
    of(careUnit) {
      const kept = known.get(careUnit.id);
      if (kept && kept.until > Date.now()) return kept.directory;
      const directory = loadDirectory(careUnit.id, options);
      known.set(careUnit.id, { until: Date.now() + lifetime, directory });
      directory.catch(() => known.delete(careUnit.id));
      return directory;
    },
  };
}

async function loadDirectory(careUnitId: string, options: DirectoryOptions): Promise<CareUnitDirectory> {
  const unit = options.careUnits.get(careUnitId);
  if (!unit) throw new ConnectorError('rejected', 'This connection has no such care unit');
  const [services, local] = await Promise.all([loadServices(unit, options), loadRoles(unit, options)]);
  const schedules = await loadSchedules(unit, local, options);
  const roles = await loadRolesOfSchedules(schedules, options, local);
  const actors = schedules.map((schedule) => ({ schedule, actor: bookedActor(schedule, roles, unit) }));
  const references = [...new Set(actors.flatMap(({ actor }) => actor ?? []))];
  const found = new Map(
    (await options.client.readMany<FhirResource>(references)).map((resource) => [referenceTo(resource), resource]),
  );
  const members = actors.flatMap(({ schedule, actor }) => {
    const resource = actor === undefined ? undefined : found.get(actor);
    return resource && actor !== undefined && isMember(schedule, resource, unit, local) ? [{ schedule, actor }] : [];
  });
  const offers = new Map(
    members.map(({ schedule, actor }) => [
      referenceTo(schedule),
      {
        resourceId: resourceId(actor),
        services: offeredBy(schedule, services),
        actor: namedActor(schedule, actor, roles),
      },
    ]),
  );
  const resources = [...Map.groupBy(members, ({ actor }) => actor)]
    .map(([actor, own]) => {
      const ids = own.flatMap(({ schedule }) => offers.get(referenceTo(schedule))?.services ?? []).map(({ id }) => id);
      return toResource(found.get(actor) as FhirResource, [...new Set(ids)].sort(compare), options);
    })
    .sort((a, b) => compare(a.id, b.id));
  const otherPlaces = [...options.careUnits.values()].flatMap(({ location }) => location ?? []);
  return directoryOf({ careUnitId, unit, resources, services, offers, roles, otherPlaces });
}

interface Parts {
  readonly careUnitId: string;
  readonly unit: CareUnitSettings;
  readonly resources: readonly Resource[];
  readonly services: readonly BookableService[];
  readonly offers: ReadonlyMap<string, Offer & { readonly actor: string | undefined }>;
  readonly roles: ReadonlyMap<string, FhirPractitionerRole>;
  readonly otherPlaces: readonly string[];
}

function directoryOf({ careUnitId, unit, resources, services, offers, roles, otherPlaces }: Parts): CareUnitDirectory {
  const ids = new Set(resources.map(({ id }) => id));
  const elsewhere = new Set(otherPlaces.filter((place) => place !== unit.location));
  return {
    careUnitId,
    location: unit.location,
    resources,
    services,
    referenceOf: (id) => (ids.has(id) ? resourceReference(id) : undefined),
    namesOf(id) {
      const reference = ids.has(id) ? resourceReference(id) : undefined;
      if (reference === undefined) return [];
      const own = [...roles].flatMap(([role, { practitioner }]) =>
        localReference(practitioner) === reference ? role : [],
      );
      return [reference, ...own];
    },
    schedulesOf: (wanted) =>
      [...offers].filter(([, { resourceId: id }]) => wanted === undefined || wanted.includes(id)).map(([it]) => it),
    actorsOf: (schedules) => [...new Set(schedules.flatMap((schedule) => offers.get(schedule)?.actor ?? []))],
    offerOfSchedule: (schedule) => offers.get(schedule) ?? null,
    offerOf(slot) {
      const offer = offers.get(localReference(slot.schedule) ?? '');
      if (!offer) return null;
      const typed = (slot.serviceType ?? []).some(({ coding }) => (coding ?? []).length > 0);
      // A slot's own service types replace those of its schedule: https://hl7.org/fhir/R4/slot-definitions.html
      return typed ? { ...offer, services: services.filter((it) => hasCoding(it, slot.serviceType)) } : offer;
    },
    resourceOf: (appointment) => resourcesOf(appointment)[0],
    resourcesOf,
    serviceOf: (appointment) => serviceOf(appointment, services),
  };

  function resourcesOf(appointment: FhirAppointment): string[] {
    const actors = actorsOf(appointment).map((actor) => localReference(roles.get(actor)?.practitioner) ?? actor);
    if (actors.some((actor) => elsewhere.has(actor)) && !actors.includes(unit.location ?? '')) return [];
    return rankedActors(actors)
      .map(resourceId)
      .filter((id) => ids.has(id));
  }
}

function serviceOf(appointment: FhirAppointment, services: readonly BookableService[]): string {
  const actors = actorsOf(appointment);
  const texts = (appointment.serviceType ?? []).map(({ text }) => text);
  const service =
    services.find(({ reference }) => reference !== undefined && actors.includes(reference)) ??
    services.find((it) => hasCoding(it, appointment.serviceType)) ??
    services.find(({ name }) => texts.includes(name)) ??
    (services.length === 1 ? services[0] : undefined);
  return service?.id ?? unknownService;
}

/** A schedule with a practitioner and a room belongs to the practitioner. */
function rankedActors(actors: readonly string[]): string[] {
  return ['Practitioner', 'Device', 'Location'].flatMap((type) => actors.filter((actor) => typeOf(actor) === type));
}

function bookedActor(
  schedule: FhirSchedule,
  roles: ReadonlyMap<string, FhirPractitionerRole>,
  unit: CareUnitSettings,
): string | undefined {
  const actors = (schedule.actor ?? [])
    .flatMap((actor) => localReference(actor) ?? [])
    .map((actor) => localReference(roles.get(actor)?.practitioner) ?? actor);
  const ranked = rankedActors(actors);
  return ranked.find((actor) => actor !== unit.location) ?? ranked[0];
}

/** The reference by which a schedule names whoever is booked in it. */
function namedActor(
  schedule: FhirSchedule,
  actor: string,
  roles: ReadonlyMap<string, FhirPractitionerRole>,
): string | undefined {
  return (schedule.actor ?? [])
    .flatMap((it) => localReference(it) ?? [])
    .find((it) => it === actor || localReference(roles.get(it)?.practitioner) === actor);
}

/** Whether a schedule belongs to the care unit: by the list in the settings, its place, or the place of its actor. */
function isMember(
  schedule: FhirSchedule,
  resource: FhirResource,
  unit: CareUnitSettings,
  local: ReadonlyMap<string, FhirPractitionerRole>,
): boolean {
  const id = resourceId(referenceTo(resource));
  if (unit.resources) return unit.resources.includes(id);
  const place = unit.location ?? unit.organization;
  if (place === undefined) return true;
  const actors = (schedule.actor ?? []).flatMap((actor) => localReference(actor) ?? []);
  if (actors.includes(place) || actors.some((actor) => local.has(actor))) return true;
  // A schedule that names another place belongs to that place, wherever else its practitioner works.
  const namesPlace = actors.some((actor) => typeOf(actor) === 'Location' && actor !== referenceTo(resource));
  if (namesPlace) return false;
  const { partOf, managingOrganization } = resource as FhirLocation;
  const { location, owner } = resource as FhirDevice;
  const places = [partOf, managingOrganization, location, owner].map((reference) => localReference(reference));
  if (places.includes(place)) return true;
  return [...local.values()].some(({ practitioner }) => localReference(practitioner) === referenceTo(resource));
}

function offeredBy(schedule: FhirSchedule, services: readonly BookableService[]): readonly BookableService[] {
  const actors = (schedule.actor ?? []).flatMap((actor) => localReference(actor) ?? []);
  const named = services.filter(({ reference }) => reference !== undefined && actors.includes(reference));
  if (named.length > 0) return named;
  const typed = (schedule.serviceType ?? []).some(({ coding }) => (coding ?? []).length > 0);
  return typed ? services.filter((it) => hasCoding(it, schedule.serviceType)) : services;
}

async function loadSchedules(
  unit: CareUnitSettings,
  local: ReadonlyMap<string, FhirPractitionerRole>,
  { client, settings }: DirectoryOptions,
): Promise<FhirSchedule[]> {
  const count = ['_count', String(settings.slots?.page_size ?? defaultPageSize)] as const;
  // A schedule may name a person or one of their roles.
  const actors = unit.resources && [...unit.resources.flatMap((id) => resourceReference(id) ?? []), ...local.keys()];
  const searches: SearchParameters[] = actors
    ? chunks(actors, 20).map((chunk) => [['actor', chunk.join(',')], count])
    : [[count]];
  const found = await Promise.all(searches.map((parameters) => client.search<FhirSchedule>('Schedule', parameters)));
  return found.flat().filter(({ active }) => active !== false);
}

async function loadServices(
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

/** The roles at the care unit's place, or of the people in its settings: https://hl7.org/fhir/R4/practitionerrole.html */
async function loadRoles(
  unit: CareUnitSettings,
  { client, hasRoles }: DirectoryOptions,
): Promise<Map<string, FhirPractitionerRole>> {
  const count = ['_count', String(defaultPageSize)] as const;
  const searches = hasRoles ? searchesForRoles(unit).map((it): SearchParameters => [it, count]) : [];
  const found = await Promise.all(searches.map((it) => client.search<FhirPractitionerRole>('PractitionerRole', it)));
  const active = found.flat().filter((role) => role.active !== false);
  return new Map(active.map((role) => [referenceTo(role), role]));
}

function searchesForRoles({ resources, location, organization }: CareUnitSettings): (readonly [string, string])[] {
  if (resources) {
    const practitioners = resources
      .flatMap((id) => resourceReference(id) ?? [])
      .filter((reference) => typeOf(reference) === 'Practitioner');
    return chunks(practitioners, 20).map((some) => ['practitioner', some.join(',')]);
  }
  if (location !== undefined) return [['location', location]];
  return organization === undefined ? [] : [['organization', organization]];
}

async function loadRolesOfSchedules(
  schedules: readonly FhirSchedule[],
  { client }: DirectoryOptions,
  known: ReadonlyMap<string, FhirPractitionerRole>,
): Promise<Map<string, FhirPractitionerRole>> {
  const references = schedules
    .flatMap(({ actor }) => actor ?? [])
    .flatMap((actor) => localReference(actor) ?? [])
    .filter((reference) => typeOf(reference) === 'PractitionerRole' && !known.has(reference));
  const roles = references.length > 0 ? await client.readMany<FhirPractitionerRole>(references) : [];
  return new Map([...known, ...roles.map((role) => [referenceTo(role), role] as const)]);
}

function toResource(
  resource: FhirResource,
  serviceIds: readonly string[],
  { systems, resourceIdentifierTypes }: DirectoryOptions,
): Resource {
  switch (resource.resourceType) {
    case 'Location':
      return locationResource(resource as FhirLocation, serviceIds);
    case 'Device':
      return deviceResource(resource as FhirDevice, serviceIds);
    default:
      return practitionerResource(
        resource as FhirPractitioner,
        serviceIds,
        systems,
        resourceIdentifierTypes,
        new Date(),
      );
  }
}
