import type { Modality } from '@crossward/connector-kit';
import type { Schedule, Slot } from '@medplum/fhirtypes';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import { emrIdOf, fhirIdOf, scheduleId, slotId, toFhirId, versionOf } from '../ids.ts';
import { urls } from '../urls.ts';
import {
  careUnitReference,
  deliveryChannel,
  isText,
  namedReference,
  type ResourceBody,
  type ServiceBody,
  toServiceType,
  typeOfKind,
} from './resource.ts';

/** A service of a resource. */
export interface Agenda {
  readonly resource: ResourceBody;
  readonly service: ServiceBody;
}

export function agendaId({ resource, service }: Agenda): string {
  return scheduleId(emrIdOf(resource.id), service.id);
}

/**
 * Several actors of a Schedule belong together.
 *
 * @param mayName whether the caller may see resources of a type, and so their names
 * @returns `undefined` if an id is too long to be named
 */
export function toSchedule(
  agenda: Agenda,
  careUnit: CareUnitConnection,
  mayName: (type: string) => boolean,
): Schedule | undefined {
  const { resource, service } = agenda;
  const resourceId = fhirIdOf(resource.id);
  const serviceId = toFhirId(service.id);
  if (resourceId === undefined || serviceId === undefined) return undefined;
  const resourceName = mayName(typeOfKind[resource.kind]) ? resource.name : '';
  const name = [service.name, resourceName].filter(isText).join(', ');
  return {
    resourceType: 'Schedule',
    id: agendaId(agenda),
    meta: { versionId: versionOf(resource.id, resource.kind, resource.name, service) },
    ...(name !== '' && { extension: [{ url: urls.scheduleName, valueString: name }] }),
    active: true,
    serviceType: [toServiceType(service.id, service.name)],
    actor: [
      namedReference(`${typeOfKind[resource.kind]}/${resourceId}`, resourceName),
      namedReference(`HealthcareService/${serviceId}`, service.name),
      careUnitReference(careUnit),
    ],
  };
}

interface Time {
  /** RFC 3339 with the care unit's offset. */
  readonly start: string;
  readonly end: string;
  /** How patient and resource meet, where the EHR says it of the time. */
  readonly modality?: Modality | null;
}

export function toSlot(agenda: Agenda, { start, end, modality }: Time, status: 'free' | 'busy'): Slot {
  const schedule = agendaId(agenda);
  const { service } = agenda;
  return {
    resourceType: 'Slot',
    id: slotId({ scheduleId: schedule, start: new Date(start), end: new Date(end) }),
    meta: { versionId: versionOf(schedule, start, end, status, ...(modality ? [modality] : [])) },
    ...deliveryChannel(modality),
    serviceType: [toServiceType(service.id, service.name)],
    schedule: { reference: `Schedule/${schedule}` },
    status,
    start,
    end,
  };
}
