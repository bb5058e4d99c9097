import { type FhirResource, type FhirSchedule, referenceTo, typeOf } from '../fhir.ts';
import { resourceId } from '../mappers/resource.ts';
import type { CareUnitSettings } from '../settings.ts';
import { actorsOfSchedule } from './actors.ts';
import { isInPlace } from './place.ts';
import { practitionerOf, type Roles } from './roles.ts';

/** The resources that belong to a care unit's location. */
export interface Here {
  readonly unit: CareUnitSettings;
  /** The roles at the location. */
  readonly roles: Roles;
  /** Roles with another location. */
  readonly foreignRoles: ReadonlySet<string>;
  /** The location itself, and the rooms and devices in it, without the locations of other care units. */
  readonly places: ReadonlySet<string>;
  /** The locations and organizations of other care units. */
  readonly elsewhere: ReadonlySet<string>;
  /** The resources in the settings of other care units, as references. */
  readonly otherResources: ReadonlySet<string>;
  /** The services that are provided at the care unit's location or by its organization, and nowhere else. */
  readonly services: ReadonlySet<string>;
  /** The services of other care units. */
  readonly foreignServices: ReadonlySet<string>;
  /** The schedules whose Slots the server finds by the care unit's location. */
  readonly schedules: ReadonlySet<string>;
}

export function placesHere(
  unit: CareUnitSettings,
  actors: ReadonlyMap<string, FhirResource>,
  elsewhere: ReadonlySet<string>,
): ReadonlySet<string> {
  const inPlace = [...actors.values()].filter((it) => isInPlace(it, unit)).map(referenceTo);
  const own = unit.location === undefined ? [] : [unit.location];
  return new Set([...own, ...inPlace].filter((it) => !elsewhere.has(it)));
}

/**
 * Whether an appointment with these actors belongs to the care unit. A location or a role decides, then a service, even if
 * the care unit has no schedule of the practitioner any more: an appointment stays where it was booked.
 */
export function sideOf(actors: readonly string[], here: Here): 'here' | 'elsewhere' | 'unknown' {
  const names = (places: { has(reference: string): boolean }) => actors.some((actor) => places.has(actor));
  if (names(here.roles) || (here.unit.location !== undefined && actors.includes(here.unit.location))) return 'here';
  if (names(here.elsewhere) || names(here.foreignRoles)) return 'elsewhere';
  if (names(here.services)) return 'here';
  return names(here.foreignServices) ? 'elsewhere' : 'unknown';
}

/**
 * Whether a schedule belongs to the care unit. This depends on the first of these that the schedule has: a location;
 * the location of a role; the location of its device, or of its practitioner's roles.
 *
 * @param booked the actor that is booked with the schedule
 */
export function isMember(schedule: FhirSchedule, booked: string, here: Here): boolean {
  const { unit, roles, foreignRoles, places, elsewhere } = here;
  const actors = actorsOfSchedule(schedule);
  const locations = actors.filter((actor) => typeOf(actor) === 'Location');
  const named = actors.filter((actor) => typeOf(actor) === 'PractitionerRole');
  if (unit.resources) {
    if (!unit.resources.includes(resourceId(booked))) return false;
    if (locations.length > 0) return locations.some((it) => !elsewhere.has(it));
    return named.length === 0 || !named.every((role) => foreignRoles.has(role));
  }
  if ((unit.location ?? unit.organization) === undefined || here.schedules.has(referenceTo(schedule))) return true;
  if (locations.length > 0) return locations.some((it) => places.has(it));
  if (named.some((role) => roles.has(role))) return true;
  if (named.length > 0 && named.every((role) => foreignRoles.has(role))) return false;
  if (actors.some((actor) => places.has(actor))) return true;
  return [...roles.values()].some((role) => practitionerOf(role) === booked);
}
