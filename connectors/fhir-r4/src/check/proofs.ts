import { randomUUID } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';
import { operationSystem } from '../booking/operation-ids.ts';
import { withdraw } from '../booking/write/appointment.ts';
import type { FhirAppointment, FhirResource } from '../fhir.ts';
import type { FhirClient, WriteResponse } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';

/** A version that no server assigns. */
export const noVersion = '999999999';

/**
 * Whether a server has a property that a booking mode relies on.
 *
 * - `held`: it does
 * - `broken`: it does not
 * - `rejected`: it does not let the client write Slots (or Appointments, in their proof), or not in this way
 * - `unproven`: there is no data for the proof, or the server rejected the proof for another reason
 */
export type Proof = 'held' | 'broken' | 'rejected' | 'unproven';

/**
 * What a rejected proof means.
 *
 * @param writeUnder repeats the write under the correct version
 */
export async function proofOfRejection(
  { status }: WriteResponse,
  { resourceType, meta }: FhirResource,
  writeUnder: (version: string) => Promise<WriteResponse>,
): Promise<Proof> {
  if (status === 412 || status === 409) return 'held';
  // 400 may be about the version or about something else. If it is something else, the correct version is rejected too.
  if (status === 400) return meta?.versionId && (await writeUnder(meta.versionId)).ok ? 'held' : 'unproven';
  // A client that may write slots may not be allowed to write schedules.
  return isForbidden(status) && resourceType === 'Slot' ? 'rejected' : 'unproven';
}

function isForbidden(status: number): boolean {
  return status === 401 || status === 403 || status === 405;
}

/** A resource for the proof, which is written back unchanged. */
export async function anySlotOrSchedule(client: FhirClient): Promise<FhirResource | undefined> {
  for (const type of ['Slot', 'Schedule']) {
    try {
      for await (const { resources } of client.pages(type, [['_count', '1']])) {
        if (resources[0]) return resources[0];
        break;
      }
    } catch (error) {
      // Some servers require more parameters in a search for slots.
      if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
    }
  }
  return undefined;
}

/** The appointments with an identifier of the gateway. */
export async function appointmentsMarked(client: FhirClient, marker: string): Promise<FhirAppointment[]> {
  const found = await client.search<FhirAppointment>('Appointment', [['identifier', `${operationSystem}|${marker}`]]);
  // Some servers ignore a search parameter that they do not know.
  return found.filter((it) => it.identifier?.some(({ value }) => value === marker));
}

/** An appointment for a proof: in the past, `entered-in-error`, and without a patient. */
export function probeAppointment(value: string): FhirAppointment {
  const start = new Date('2000-01-01T00:00:00Z');
  return {
    resourceType: 'Appointment',
    status: 'entered-in-error',
    identifier: [{ system: operationSystem, value }],
    start: start.toISOString(),
    end: new Date(start.getTime() + 60_000).toISOString(),
    participant: [{ actor: { display: 'Crossward' }, status: 'declined' }],
  };
}

/**
 * Proves that the server keeps the gateway's identifier and finds the appointment by it: some servers drop identifiers
 * that they did not assign. The appointment is `entered-in-error`, and is deleted if the server allows that.
 */
export async function proveOperationIds(client: FhirClient): Promise<Proof> {
  const marker = `probe-${randomUUID()}`;
  const made = await client.create(probeAppointment(marker));
  if (!made.ok) return isForbidden(made.status) ? 'rejected' : 'unproven';
  try {
    const [found] = await appointmentsMarked(client, marker);
    return found ? 'held' : 'broken';
  } catch (error) {
    if (isRejection(error)) return 'broken';
    throw error;
  } finally {
    await withdraw({ client }, made.reference);
  }
}
