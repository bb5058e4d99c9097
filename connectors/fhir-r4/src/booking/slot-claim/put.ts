import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from '../write/outcomes.ts';

/**
 * Writes a resource under the version that was read. Returns it with its new version.
 *
 * @throws LostRace if another write was faster: 412, or 409, or 400 on some servers
 */
export async function put<R extends FhirSlot | FhirAppointment>(
  ehr: BookingConnection,
  resource: R,
  version: string,
): Promise<R> {
  const response = await ehr.client.update(resource, { ifMatch: version });
  if (response.ok) return stored(ehr, resource, response);
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  const current = await ehr.client.read(referenceTo(resource));
  if (current?.meta?.versionId !== version) throw new LostRace();
  throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
}

async function stored<R extends FhirSlot | FhirAppointment>(
  ehr: BookingConnection,
  resource: R,
  { resource: received, version }: WriteResponse,
): Promise<R> {
  if (received?.resourceType === resource.resourceType && received.meta?.versionId) return received as R;
  if (version !== undefined) return { ...resource, meta: { ...resource.meta, versionId: version } };
  return (await afterWriting(() => ehr.client.read<R>(referenceTo(resource)))) ?? resource;
}
