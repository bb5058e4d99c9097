import { type ConnectorContext, ConnectorError, type Resource } from '@crossward/connector-kit';
import {
  type AtCareUnit,
  compareIds,
  type Directory,
  identifiersOf,
  type OpenEhr,
  openEhrWith,
} from '@crossward/connector-kit/rest';
import { createClient, type GpConnectClient } from './client.ts';
import { referencesAt } from './fhir.ts';
import { type CareUnitSettings, careUnitSettings, type GpConnectSettings, type ServiceSettings } from './settings.ts';

/**
 * A care unit: one surgery of the practice, or all of them. Resources and services are those of the settings. GP Connect has no
 * directory: it shows only who has a free slot, and a list that changes with each booking would be of no use to callers.
 */
interface Surgery extends Directory {
  readonly location: string | undefined;
}

/** The system of one practice. */
export type Ehr = OpenEhr<GpConnectSettings, Surgery, GpConnectClient, Directory>;
export type At = AtCareUnit<GpConnectSettings, Surgery, GpConnectClient, Directory>;

/** Where something takes place, with whom, and what for. */
interface Event {
  readonly location: string | undefined;
  readonly practitioner: string | undefined;
  readonly slotType: string | undefined;
  readonly scheduleType: string | undefined;
}

/** @throws ConnectorError `rejected` for invalid settings of a care unit */
export function openEhr(context: ConnectorContext<GpConnectSettings>): Ehr {
  const services = (context.settings.healthcare_services ?? [])
    .map(({ id, name, duration_minutes = null }) => ({ id, name, durationMinutes: duration_minutes }))
    .sort(compareIds);
  const ids = services.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new ConnectorError('rejected', 'Two healthcare_services have the same id');
  return openEhrWith(context, {
    unitSchema: careUnitSettings,
    unitOf: (unit): Surgery => ({ location: unit.location, resources: resourcesIn(unit, ids), services }),
    createClient,
    readLists: async ({ unit }) => unit,
  });
}

/** The references of settings are relative. */
const own = referencesAt([]);

function resourcesIn({ resources }: CareUnitSettings, serviceIds: readonly string[]): readonly Resource[] {
  return resources
    .map(({ reference, name, healthcare_services: healthcareServiceIds = serviceIds }): Resource => {
      const practitioner = own.to('Practitioner', [{ reference }]);
      const id = resourceIdOf({ practitioner, location: own.to('Location', [{ reference }]) });
      const kind = practitioner === undefined ? 'room' : 'practitioner';
      return { id, identifiers: identifiersOf(id), kind, name, healthcareServiceIds };
    })
    .sort(compareIds);
}

/** Whether the event takes place in the care unit: at its location, or if no location is known, with somebody of it. */
export function isAt({ unit }: At, event: Pick<Event, 'location' | 'practitioner'>): boolean {
  if (unit.location === undefined) return true;
  if (event.location !== undefined) return unit.location === event.location;
  return unit.resources.some(({ id }) => id === resourceIdOf(event));
}

/** The healthcare service. `undefined`: the settings do not name it, and the practice's own staff can book any. */
export function serviceOf({ settings }: Pick<Ehr, 'settings'>, event: Event): ServiceSettings | undefined {
  return settings.healthcare_services?.find(
    ({ slot_type, schedule_type = event.scheduleType }) =>
      slot_type === event.slotType && schedule_type === event.scheduleType,
  );
}

/** The id of a resource: that of the practitioner, or `location_` with that of the location if there is none. */
export function resourceIdOf({ practitioner, location }: Pick<Event, 'practitioner' | 'location'>): string {
  const [type = '', id = ''] = (practitioner ?? location ?? '').split('/');
  return type === 'Practitioner' ? id : `location_${id}`;
}
