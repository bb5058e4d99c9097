import type { Schedule, Slot } from '@medplum/fhirtypes';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import { careUnitLocationId, emrIdOf, fhirIdOf, scheduleId, slotId, toFhirId, versionOf } from '../ids.ts';
import { type ResourceBody, type ServiceBody, toServiceType, typeOfKind } from './resource.ts';

/** A service of a resource. */
export interface Agenda {
  readonly resource: ResourceBody;
  readonly service: ServiceBody;
}

export function agendaId({ resource, service }: Agenda): string {
  return scheduleId(emrIdOf(resource.id), service.id);
}

/** Several actors of a Schedule belong together. `undefined`: an id is too long to be named. */
export function toSchedule(agenda: Agenda, careUnit: CareUnitConnection): Schedule | undefined {
  const { resource, service } = agenda;
  const resourceId = fhirIdOf(resource.id);
  const serviceId = toFhirId(service.id);
  if (resourceId === undefined || serviceId === undefined) return undefined;
  return {
    resourceType: 'Schedule',
    id: agendaId(agenda),
    meta: { versionId: versionOf(resource.id, resource.kind, service) },
    active: true,
    serviceType: [toServiceType(service.id, service.name)],
    actor: [
      { reference: `${typeOfKind[resource.kind]}/${resourceId}` },
      { reference: `HealthcareService/${serviceId}` },
      { reference: `Location/${careUnitLocationId(careUnit.id)}` },
    ],
  };
}

interface Time {
  /** RFC 3339 with the care unit's offset. */
  readonly start: string;
  readonly end: string;
}

export function toSlot(agenda: Agenda, { start, end }: Time, status: 'free' | 'busy'): Slot {
  const schedule = agendaId(agenda);
  const { service } = agenda;
  return {
    resourceType: 'Slot',
    id: slotId({ scheduleId: schedule, start: new Date(start), end: new Date(end) }),
    meta: { versionId: versionOf(schedule, start, end, status) },
    serviceType: [toServiceType(service.id, service.name)],
    schedule: { reference: `Schedule/${schedule}` },
    status,
    start,
    end,
  };
}
