import { operationKeys } from '../booking/operation-ids.ts';
import type { FhirAppointment } from '../fhir.ts';
import { readInstant } from '../mappers/instants.ts';
import { chunks } from '../server/chunks.ts';
import type { FhirClient } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';

const concurrent = 10;
/** Appointments whose histories are read in one round. */
export const mostHistories = 50;
/** A server may ignore `_count`. */
const mostPages = 3;
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
  hasHistory: boolean,
): Promise<ReadonlyMap<string, Date>> {
  const times = new Map<string, Date>();
  const unknown: string[] = [];
  for (const it of appointments) {
    const stated = statedTime(it);
    if (stated) times.set(it.id ?? '', stated);
    else if (hasHistory && needsHistory(it)) unknown.push(it.id ?? '');
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

/** Whether only its history says when an Appointment was created, and it was not by the gateway. */
export function needsHistory(appointment: FhirAppointment): boolean {
  return statedTime(appointment) === undefined && operationKeys(appointment).length === 0;
}

function statedTime({ meta, created }: FhirAppointment): Date | undefined {
  // A date without a time says too little.
  return readInstant(meta?.versionId === '1' ? meta.lastUpdated : created);
}

/** The time of the first version, or of the first one after a deletion. */
async function firstVersion(client: FhirClient, id: string): Promise<Date | undefined> {
  let first: string | undefined;
  let [count, pages] = [0, 0];
  try {
    for await (const entries of client.history(`Appointment/${id}/_history`, [['_count', String(mostVersions)]])) {
      if (++pages > mostPages) return undefined;
      for (const { resource } of entries) {
        if (!resource) return readInstant(first);
        if (++count > mostVersions) return undefined;
        first = resource.meta?.lastUpdated;
      }
    }
  } catch (error) {
    if (!isRejection(error)) throw error;
    return undefined;
  }
  return readInstant(first);
}
