import { isBundle } from '../client.ts';
import type { FhirAppointment, FhirResource, Parameters } from '../fhir.ts';
import { hasFailed, isOutcome } from '../outcome.ts';

/** A Bundle by IHE and Argonaut, the appointment itself, or a `return` parameter with either. */
export function appointmentsIn(body: unknown): FhirAppointment[] {
  return resourcesIn(body).flatMap((it) => (it.resourceType === 'Appointment' ? [it as FhirAppointment] : []));
}

/**
 * Whether an operation that was answered as done was refused after all: IHE answers an OperationOutcome alone, Argonaut
 * an appointment that is `cancelled`.
 */
export function wasRefused(body: unknown, wanted: 'taken' | 'cancelled'): boolean {
  const [appointment] = appointmentsIn(body);
  if (appointment) return (appointment.status === 'cancelled') !== (wanted === 'cancelled');
  return resourcesIn(body).some((it) => isOutcome(it) && hasFailed(it));
}

function resourcesIn(body: unknown): FhirResource[] {
  const resource = body as FhirResource | undefined;
  if (isBundle(resource)) return (resource.entry ?? []).flatMap((it) => it.resource ?? []);
  if (resource?.resourceType !== 'Parameters') return resource === undefined ? [] : [resource];
  return ((resource as Parameters).parameter ?? []).flatMap((it) => resourcesIn(it.resource));
}
