import type { ConfiguredCareUnit, HealthcareService, Resource } from '@crossward/connector-kit';
import { compareText, ofCareUnits } from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import { referencesAt } from './references.ts';
import { careUnitSettings, type GpConnectSettings, type ServiceSettings } from './settings.ts';

/** A care unit: one surgery of the practice, or all of them. */
interface Surgery {
  readonly location: string | undefined;
  readonly resources: readonly Resource[];
}

/** Where something takes place, with whom, and what for. */
interface Event {
  readonly location: string | undefined;
  readonly practitioner: string | undefined;
  readonly slotType: string | undefined;
  readonly scheduleType: string | undefined;
}

/**
 * The resources and healthcare services of the settings. GP Connect has no directory: it shows only who has a free slot, and a
 * list that changes with each booking would be of no use to callers.
 */
export interface Directory {
  /** Ordered by id. */
  readonly services: readonly HealthcareService[];
  resourcesOf(careUnitId: string): readonly Resource[];
  resourceOf(careUnitId: string, resourceId: string): Resource | undefined;
  /** Whether the event takes place in the care unit: at its location, or if no location is known, with somebody of it. */
  isAt(careUnitId: string, event: Pick<Event, 'location' | 'practitioner'>): boolean;
  /** The healthcare service. `undefined`: the settings do not name it, and the practice's own staff can book any. */
  serviceOf(event: Event): HealthcareService | undefined;
}

/** @throws ConnectorError `rejected` for invalid settings of a care unit */
export function createDirectory(
  { healthcare_services: services = [] }: GpConnectSettings,
  careUnits: readonly ConfiguredCareUnit[],
): Directory {
  const surgeryOf = ofCareUnits(careUnits, careUnitSettings, (settings) => surgeryIn(settings, services));
  const resourcesOf = (id: string) => surgeryOf({ id }).resources;
  const known = services
    .map(({ id, name, duration_minutes = null }) => ({ id, name, durationMinutes: duration_minutes }))
    .sort((a, b) => compareText(a.id, b.id));
  return {
    services: known,
    resourcesOf,
    resourceOf: (careUnitId, resourceId) => resourcesOf(careUnitId).find(({ id }) => id === resourceId),
    isAt: (careUnitId, { location, practitioner }) => {
      const surgery = surgeryOf({ id: careUnitId });
      if (surgery.location === undefined) return true;
      if (location !== undefined) return surgery.location === location;
      return surgery.resources.some(({ id }) => id === resourceIdOf({ practitioner, location }));
    },
    serviceOf: (event) => {
      const found = services.find((it) => isOf(it, event));
      return found && known.find(({ id }) => id === found.id);
    },
  };
}

/** The id of a resource: that of the practitioner, or `location_` with that of the location if there is none. */
export function resourceIdOf({ practitioner, location }: Pick<Event, 'practitioner' | 'location'>): string {
  const [type = '', id = ''] = (practitioner ?? location ?? '').split('/');
  return type === 'Practitioner' ? id : `location_${id}`;
}

/** The references of settings are relative. */
const own = referencesAt([]);

function surgeryIn(settings: Static<typeof careUnitSettings>, services: readonly ServiceSettings[]): Surgery {
  const resources = settings.resources.map(({ reference, name, healthcare_services }): Resource => {
    const actor = [{ reference }];
    const practitioner = own.to('Practitioner', actor);
    const resourceId = resourceIdOf({ practitioner, location: own.to('Location', actor) });
    return {
      id: resourceId,
      identifiers: [{ type: 'emr_id', value: resourceId }],
      kind: practitioner === undefined ? 'room' : 'practitioner',
      name,
      healthcareServiceIds: healthcare_services ?? services.map((it) => it.id).sort(),
    };
  });
  return { location: settings.location, resources: resources.sort((a, b) => compareText(a.id, b.id)) };
}

function isOf({ slot_type, schedule_type }: ServiceSettings, { slotType, scheduleType }: Event): boolean {
  return slot_type === slotType && (schedule_type === undefined || schedule_type === scheduleType);
}
