import { type FhirAppointment, type FhirResource, isBundle, type Parameters } from '../../fhir.ts';
import { hasFailed, isOutcome } from '../../server/outcome.ts';

/** The appointments in the response of an operation: a Bundle (IHE, Argonaut), an Appointment, or a `return` parameter with either. */
export function appointmentsIn(body: unknown): FhirAppointment[] {
  return resourcesIn(body).flatMap((it) => (it.resourceType === 'Appointment' ? [it as FhirAppointment] : []));
}

/**
 * Whether an operation with a 2xx status was rejected: IHE then returns only an OperationOutcome, Argonaut an
 * Appointment that is `cancelled`.
 */
export function wasRejected(body: unknown, wanted: 'taken' | 'cancelled'): boolean {
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
