import type { Resource } from '@crossward/connector-kit';
import { type FhirAppointment, localReference, type Participant } from '../fhir.ts';
import { type AppointmentPlace, actorsOf, participantsOf } from '../mappers/appointment.ts';
import { type BookableService, hasCoding } from '../mappers/healthcare-service.ts';
import { resourceId, resourceReference } from '../mappers/resource.ts';
import { rankedActors } from './actors.ts';
import type { CareUnitDirectory, Offer } from './directory.ts';
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
    slotUnit: here.unit.slot_unit,
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
      const { foundFor } = slot;
      if (foundFor) return { ...offer, services: services.filter(({ id }) => foundFor.includes(id)) };
      const typed = (slot.serviceType ?? []).some(({ coding }) => (coding ?? []).length > 0);
      // A slot's own service types replace those of its schedule: https://hl7.org/fhir/R4/slot-definitions.html
      return typed ? { ...offer, services: services.filter((it) => hasCoding(it, slot.serviceType)) } : offer;
    },
    resourceOf: (appointment) => resourcesOf(appointment)[0],
    resourcesOf,
    placeOf,
    serviceOf: (appointment) => serviceOf(appointment, services),
  };

  function isHere(named: readonly string[]): boolean {
    const side = sideOf(named, here);
    if (side === 'elsewhere') return false;
    const { unit, otherResources } = here;
    const actors = rankedActors(named.map((actor) => practitionerOf(roles.get(actor)) ?? actor));
    const ids = actors.filter((actor) => actor !== location).map(resourceId);
    if (ids.some((id) => known.has(id) || unit.resources?.includes(id))) return true;
    // The settings name all resources, so those of others are of another care unit, even at the same location.
    if (unit.resources && ids.length > 0) return false;
    if (side === 'here') return true;
    if (unit.resources ?? unit.location ?? unit.organization) return false;
    return !actors.some((it) => otherResources.has(it));
  }

  function placeOf(appointment: FhirAppointment): AppointmentPlace | undefined {
    const actors = actorsOf(appointment);
    if (!isHere(actors)) return undefined;
    const [id] = resourcesOf(appointment);
    const others = participantsOf(appointment).filter((it) => isNobodyKnown(it));
    const named = others.map(({ actor }) => actor?.display).find((it) => it);
    // Whoever is named takes precedence over the room.
    if (id === undefined || (id.startsWith('location_') && named)) {
      return { resourceId: null, resourceName: named ?? null };
    }
    return { resourceId: id, resourceName: displayOf(appointment, id) };
  }

  function displayOf(appointment: FhirAppointment, id: string): string | null {
    const isIt = ({ actor }: Participant) => {
      const reference = localReference(actor) ?? '';
      return resourceId(practitionerOf(roles.get(reference)) ?? reference) === id;
    };
    return participantsOf(appointment).find(isIt)?.actor?.display ?? null;
  }

  function resourcesOf(appointment: FhirAppointment): string[] {
    const named = actorsOf(appointment);
    if (!isHere(named)) return [];
    const actors = named.map((actor) => practitionerOf(roles.get(actor)) ?? actor);
    // The location itself is a resource only if it has a schedule.
    const isOf = (id: string, actor: string) => known.has(id) || (actor !== location && mayBe(id));
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

/** Whether a participant is neither the patient nor a record that can be asked for, and so has a name at most. */
function isNobodyKnown({ actor, type = [] }: Participant): boolean {
  if (!actor || localReference(actor) !== undefined) return false;
  const isSubject = type.some(({ coding = [] }) => coding.some(({ code }) => code === 'SBJ'));
  const of = actor.type ?? /(?<![A-Za-z])([A-Z][A-Za-z]+)\/[^/]+$/.exec(actor.reference ?? '')?.[1] ?? '';
  return !isSubject && !['Patient', 'RelatedPerson', 'Location', 'HealthcareService'].includes(of);
}

/** See `CareUnitDirectory`. */
function placeNames({ unit, roles, services }: Here): readonly string[] {
  if (!unit.resources) return [...(unit.location === undefined ? [] : [unit.location]), ...roles.keys(), ...services];
  return [...unit.resources.flatMap((id) => resourceReference(id) ?? []), ...roles.keys()];
}
