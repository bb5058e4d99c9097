import { setTimeout as sleep } from 'node:timers/promises';
import type { Appointment } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../../api/endpoint.ts';
import { getAppointment } from '../../appointments/routes.ts';
import type { ClientRegistry } from '../../clients/client-registry.ts';
import { maySeeResource } from '../../clients/smart-scopes.ts';
import { type AuditedAccess, newReached, within } from '../../context/work-context.ts';
import { healthcareServiceBody } from '../../healthcare-services/routes.ts';
import { resourceBody } from '../../resources/routes.ts';
import type { Subscription } from '../../webhooks/endpoint.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { readIdentifiers } from '../appointments/identifiers.ts';
import { appointmentNames, directoryOf } from '../directory.ts';
import { isCancellation, toAppointment } from '../to-fhir/appointment.ts';

export interface ReaderDependencies {
  readonly services: WriteServices;
  readonly clients: Pick<ClientRegistry, 'find'>;
}

/** Whose notification needs an Appointment. */
interface Receiver {
  readonly clientId: string;
  readonly subscription: Pick<Subscription, 'emr' | 'careUnitId'>;
  /** Of the delivery: names the entry in the audit trail. */
  readonly deliveryId: string;
}

/** Milliseconds. The claim of the delivery outlasts it. */
const longestRead = 4_000;

/**
 * Reads an Appointment as a client may see it now, for a notification that contains it, and leaves an entry in the audit trail.
 * Returns `undefined` if the client may not, the EHR does not answer in time, or FHIR cannot name it: the event is told all the same.
 */
export function createAppointmentReader({ services, clients }: ReaderDependencies) {
  return async (
    { clientId, subscription, deliveryId }: Receiver,
    appointmentId: string,
  ): Promise<Appointment | undefined> => {
    const { emr, careUnitId } = subscription;
    const [client, ehr] = [clients.find(clientId), services.ehrs.get(emr)];
    const careUnit = ehr?.careUnits.get(careUnitId);
    if (!client?.grants.get(emr)?.has(careUnitId) || !ehr || !careUnit) return undefined;
    if (!maySeeResource(client, 'Appointment')) return undefined;
    const reached = newReached();
    const reading = within({ clientId, reached }, () => read(services, { client, ehr, careUnit }, appointmentId));
    const inTime = await Promise.race([reading.catch(() => undefined), sleep(longestRead, undefined, { ref: false })]);
    if (!inTime) return undefined;
    const access: AuditedAccess = {
      actor: 'client',
      ...{ clientId, emr, careUnitId, ...reached, requestId: deliveryId, writeId: undefined },
      operation: 'fhir_notify_appointment',
      outcome: 'success',
    };
    // What leaves no entry is not shown.
    const isRecorded = await services.audit.record(access, true).then(
      () => true,
      () => false,
    );
    return isRecorded ? inTime : undefined;
  };
}

async function read(services: WriteServices, access: Access, id: string): Promise<Appointment | undefined> {
  const { ehr, careUnit } = access;
  // It reads nothing else of a request.
  const input = { ...access, services, params: { appointment_id: id } } as Parameters<typeof getAppointment.handle>[0];
  const reading = getAppointment.handle(input, {} as FastifyRequest);
  const directory = Promise.all([ehr.call('listResources', careUnit), ehr.call('listHealthcareServices', careUnit)])
    .then(([resources, offered]) => directoryOf(resources.map(resourceBody), offered.map(healthcareServiceBody)))
    .catch(() => undefined);
  const { body } = await reading;
  if (isCancellation(body)) return undefined;
  const names = appointmentNames(access, await directory);
  await readIdentifiers({ ...access, services }, names, [body]);
  return toAppointment(body, names);
}
