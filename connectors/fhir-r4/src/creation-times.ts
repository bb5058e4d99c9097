import { chunks } from './chunks.ts';
import type { FhirClient } from './client.ts';
import type { FhirAppointment } from './fhir.ts';
import { operationKeys } from './operation-ids.ts';
import { isRejection } from './outcome.ts';

const concurrent = 10;
/** More versions than an appointment has soon after it was created. */
const mostVersions = 20;

/**
 * When Appointments were created that staff have made, by id. `created` is optional, and few servers set it. A server that
 * counts versions begins with 1: https://hl7.org/fhir/R4/http.html#versioning. Otherwise the history of the Appointment says it.
 * Absent: not known, or so long ago that it has many versions.
 *
 * @param hasHistory whether the server has the versions of each Appointment
 */
export async function creationTimes(
  client: FhirClient,
  appointments: readonly FhirAppointment[],
  { operationSystem, hasHistory }: { readonly operationSystem: string; readonly hasHistory: boolean },
): Promise<ReadonlyMap<string, Date>> {
  const times = new Map<string, Date>();
  const unknown: string[] = [];
  for (const it of appointments) {
    const { id = '', meta } = it;
    const stated = meta?.versionId === '1' ? meta.lastUpdated : it.created;
    // A date without a time says too little.
    if (stated?.includes('T')) times.set(id, new Date(stated));
    else if (hasHistory && operationKeys(it, operationSystem).length === 0) unknown.push(id);
  }
  for (const chunk of chunks(unknown, concurrent)) {
    const found = await Promise.all(chunk.map((id) => firstVersion(client, id)));
    for (const [index, id] of chunk.entries()) {
      const time = found[index];
      if (time) times.set(id, time);
    }
  }
  return times;
}

/** The time of the first version, or of the first one after a deletion. */
async function firstVersion(client: FhirClient, id: string): Promise<Date | undefined> {
  let first: string | undefined;
  let count = 0;
  try {
    for await (const entries of client.history(`Appointment/${id}/_history`, [['_count', String(mostVersions)]])) {
      for (const { resource } of entries) {
        if (!resource) return dateOf(first);
        if (++count > mostVersions) return undefined;
        first = resource.meta?.lastUpdated;
      }
    }
  } catch (error) {
    if (!isRejection(error)) throw error;
    return undefined;
  }
  return dateOf(first);
}

function dateOf(instant: string | undefined): Date | undefined {
  return instant === undefined ? undefined : new Date(instant);
}
