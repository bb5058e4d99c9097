import type { Resource } from '@crossward/connector-kit';
import type { CareUnitDirectory, Offer } from '../directory.ts';
import { type FhirAppointment, localReference } from '../fhir.ts';
import { actorsOf } from '../mappers/appointment.ts';
import { type BookableService, hasCoding } from '../mappers/healthcare-service.ts';
import { resourceId, resourceReference } from '../resource-id.ts';
import { rankedActors } from './actors.ts';
import { type Here, sideOf } from './membership.ts';
import { practitionerOf, type Roles } from './roles.ts';
import { serviceOf } from './services.ts';

/** The data that was loaded for a care unit. */
export interface Loaded {
  readonly careUnitId: string;
  readonly here: Here;
  /** The roles at the location, and others that its schedules name. */
  readonly roles: Roles;
  /** Those that can be booked, by id. */
  readonly resources: readonly Resource[];
  readonly knownIds: readonly string[];
  readonly services: readonly BookableService[];
  readonly derivesServices: boolean;
  /** By schedule. */
  readonly offers: ReadonlyMap<string, Offer & { readonly actor: string | undefined }>;
}

export function careUnitDirectory(loaded: Loaded): CareUnitDirectory {
  const { careUnitId, here, roles, resources, knownIds, services, derivesServices, offers } = loaded;
  const { location, organization } = here.unit;
  const offered = new Set(resources.map(({ id }) => id));
  const known = new Set(knownIds);
  return {
    careUnitId,
    location,
    organization,
    sideOf(reference) {
      if (reference === organization || here.places.has(reference) || here.roles.has(reference)) return 'here';
      return here.elsewhere.has(reference) || here.foreignRoles.has(reference) ? 'elsewhere' : 'unknown';
    },
    practitionerOf: (role) => practitionerOf(roles.get(role)),
    resources,
    knownIds,
    placeNames: placeNames(here),
    services,
    derivesServices,
    referenceOf: (id) => (offered.has(id) ? resourceReference(id) : undefined),
    namesOf(id) {
      const reference = known.has(id) ? resourceReference(id) : undefined;
      if (reference === undefined) return [];
      return [reference, ...[...roles].flatMap(([name, role]) => (practitionerOf(role) === reference ? name : []))];
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
    const named = actorsOf(appointment);
    const side = sideOf(named, here);
    if (side === 'elsewhere') return [];
    const actors = named.map((actor) => practitionerOf(roles.get(actor)) ?? actor);
    // The location itself is a resource only if it has a schedule.
    const isOf = (id: string, actor: string) => known.has(id) || (side === 'here' && actor !== location && mayBe(id));
    // Of several practitioners, the care unit's own come first: another care unit may show the appointment with the others.
    const isOwn = (actor: string) => known.has(resourceId(actor));
    return rankedActors([...actors.filter(isOwn), ...actors.filter((actor) => !isOwn(actor))])
      .filter((actor) => isOf(resourceId(actor), actor))
      .map(resourceId);
  }

  /** Whether the settings let the care unit have this resource. */
  function mayBe(id: string): boolean {
    return here.unit.resources?.includes(id) ?? true;
  }
}

/** See `CareUnitDirectory`. */
function placeNames({ unit, roles, services }: Here): readonly string[] {
  if (!unit.resources) return [...(unit.location === undefined ? [] : [unit.location]), ...roles.keys(), ...services];
  return [...unit.resources.flatMap((id) => resourceReference(id) ?? []), ...roles.keys()];
}
