import { ConnectorError, isCurrent, type Resource } from '@crossward/connector-kit';
import {
  compare,
  type FhirDevice,
  type FhirLocation,
  type FhirPractitioner,
  type FhirPractitionerRole,
  type FhirResource,
  type FhirSchedule,
  referenceTo,
} from '../fhir.ts';
import {
  deviceResource,
  locationResource,
  practitionerResource,
  resourceId,
  resourceReference,
} from '../mappers/resource.ts';
import { actorsOfSchedule, bookedActor, namedActor, readActors } from './actors.ts';
import { careUnitDirectory } from './care-unit.ts';
import type { CareUnitDirectory } from './directory.ts';
import { type Here, isMember, placesHere } from './membership.ts';
import type { DirectoryOptions } from './options.ts';
import { loadPlace } from './place.ts';
import { loadRoles, loadRolesOf, namesPlace, type Roles } from './roles.ts';
import { loadSchedules } from './schedules.ts';
import { loadServices, offeredBy, servicesIn, servicesOfSchedules } from './services.ts';

/** A schedule of the care unit, and the actor that is booked with it. */
interface Member {
  readonly schedule: FhirSchedule;
  readonly actor: FhirResource;
}

/**
 * Reads the resources and services of a care unit. Resources that are out of use stay known, because they may have
 * appointments, but cannot be booked.
 */
export async function loadCareUnit(careUnitId: string, options: DirectoryOptions): Promise<CareUnitDirectory> {
  const unit = options.careUnits.get(careUnitId);
  if (!unit) throw new ConnectorError('rejected', 'This connection has no such care unit');
  const [{ services: named, resources: serviceResources }, localRoles, inPlace] = await Promise.all([
    loadServices(unit, options),
    loadRoles(unit, options),
    loadPlace(unit, options),
  ]);
  const { schedules, foundHere } = await loadSchedules(
    careUnitId,
    { unit, localRoles, inPlace, services: named },
    options,
  );
  const services = named ?? (await servicesOfSchedules(schedules, options));
  const roles: Roles = new Map([...localRoles, ...(await loadRolesOf(schedules, options, localRoles))]);
  const booked = schedules.flatMap((schedule) => bookedActor(schedule, roles, unit) ?? []);
  const actors = await readActors(options.client, schedules, booked, inPlace ?? []);
  const otherPlaces = [...options.careUnits.values()].flatMap(({ location, organization }) => [
    location ?? [],
    organization ?? [],
  ]);
  const elsewhere = new Set(
    otherPlaces.flat().filter((place) => place !== unit.location && place !== unit.organization),
  );
  const foreignRoles = new Set(
    [...roles].flatMap(([name, role]) => (!localRoles.has(name) && namesPlace(role, unit) ? name : [])),
  );
  const places = placesHere(unit, actors, elsewhere);
  const ownServices = servicesIn(serviceResources, (place) => place === unit.location || place === unit.organization);
  const otherServices = servicesIn(serviceResources, (place) => elsewhere.has(place));
  const here: Here = {
    unit,
    roles: localRoles,
    foreignRoles,
    places,
    elsewhere,
    otherResources: new Set(
      [...options.careUnits.values()]
        .flatMap(({ resources = [] }) => resources)
        .flatMap((id) => resourceReference(id) ?? []),
    ),
    services: without(ownServices, otherServices),
    foreignServices: without(otherServices, ownServices),
    schedules: foundHere,
  };

  const members = schedules.flatMap((schedule): Member[] => {
    const reference = bookedActor(schedule, roles, unit);
    const actor = actors.get(reference ?? '');
    return reference !== undefined && actor && isMember(schedule, reference, here) ? [{ schedule, actor }] : [];
  });
  const now = new Date();
  const inUse = members.filter((it) => isOffered(it, { roles, localRoles, actors, here, now }));
  const offers = new Map(
    inUse.map(({ schedule, actor }) => {
      const named = namedActor(schedule, referenceTo(actor), roles);
      const offer = { resourceId: idOf(actor), services: offeredBy(schedule, services), actor: named };
      return [referenceTo(schedule), offer];
    }),
  );
  const resources = [...Map.groupBy(inUse, ({ actor }) => actor)]
    .map(([actor, own]) => {
      const ids = own.flatMap(({ schedule }) => offers.get(referenceTo(schedule))?.services ?? []).map(({ id }) => id);
      return toResource(actor, [...new Set(ids)].sort(compare), options);
    })
    .sort((a, b) => compare(a.id, b.id));
  const knownIds = [...new Set(members.map(({ actor }) => idOf(actor)))].sort(compare);
  const derivesServices = named === undefined;
  return careUnitDirectory({ careUnitId, here, roles, resources, knownIds, services, derivesServices, offers });
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((it) => !others.has(it)));
}

function idOf(actor: FhirResource): string {
  return resourceId(referenceTo(actor));
}

interface Context {
  readonly roles: Roles;
  readonly localRoles: Roles;
  readonly actors: ReadonlyMap<string, FhirResource>;
  readonly here: Here;
  readonly now: Date;
}

/** Whether the schedule, its actor, and the roles and locations that it names are in use. */
function isOffered({ schedule, actor }: Member, { roles, localRoles, actors, here, now }: Context): boolean {
  const named = actorsOfSchedule(schedule).flatMap((it) => roles.get(it) ?? actors.get(it) ?? []);
  if (![schedule, actor, ...named].every((it) => isInUse(it, now))) return false;
  const activeRoles = new Map([...localRoles].filter(([, role]) => isInUse(role, now)));
  // A schedule that belongs to the care unit only because of a role can be booked while the role is in use.
  return isMember(schedule, referenceTo(actor), { ...here, roles: activeRoles });
}

/** Location: `active`, `suspended`, `inactive`. Device: also `entered-in-error`. */
const statusesOutOfUse = ['suspended', 'inactive', 'entered-in-error'];

/**
 * Whether a practitioner, role, schedule, location, device or service can still be booked. A resource without this
 * information is in use.
 */
function isInUse(resource: FhirResource, now: Date): boolean {
  const { active, status, period } = resource as {
    readonly active?: boolean;
    readonly status?: string;
    readonly period?: FhirPractitionerRole['period'];
  };
  return active !== false && !statusesOutOfUse.includes(status ?? '') && isCurrent(period, now);
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
