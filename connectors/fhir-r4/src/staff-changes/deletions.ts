import type { BundleEntry, FhirAppointment, FhirResource } from '../fhir.ts';
import { readInstant } from '../mappers/instants.ts';
import { chunks } from '../server/chunks.ts';
import type { FhirClient } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';
import { defaultPageSize } from '../settings.ts';
import { advance, type Position, versionKey } from './change-cursor.ts';

/** Deletions that one call returns. Each costs a request. */
const atOnce = 100;
const concurrent = 10;

export interface Deletions {
  readonly deleted: readonly DeletedAppointment[];
  readonly position: Position;
  readonly hasMore: boolean;
}

export interface DeletedAppointment {
  /** Its last version. */
  readonly last: FhirAppointment;
  readonly deletedAt: Date;
}

interface Deletion {
  readonly id: string;
  /** From `versionKey`. */
  readonly version: string;
  /** Milliseconds. If the server does not say it, as HAPI: a later time. */
  readonly at: number;
  readonly isDated: boolean;
}

/**
 * Appointments that were deleted since a position: https://hl7.org/fhir/R4/http.html#history
 *
 * @param source how the server reports deletions
 */
export async function listDeletions(
  client: FhirClient,
  source: 'history' | 'search',
  position: Position,
): Promise<Deletions> {
  const known = new Set(position.seen.map(([version]) => version));
  const read = source === 'history' ? readHistory : searchDeleted;
  const { deletions, reached } = await read(client, position.since).catch((error: unknown) => {
    // Some servers claim a history that they do not have, or reject the search. The position stays.
    if (isRejection(error)) return { deletions: [], reached: position.since };
    throw error;
  });
  const found = deletions.filter(({ version }) => !known.has(version)).reverse();
  const next = found.slice(0, atOnce);
  const hasMore = next.length < found.length;
  const seen = [...position.seen, ...next.map(({ version, at }) => [version, at] as const)];
  const deleted: DeletedAppointment[] = [];
  for (const chunk of chunks(next, concurrent)) {
    const reads = chunk.map(async ({ id, at }) => ({ last: await lastVersion(client, id), deletedAt: new Date(at) }));
    deleted.push(...(await Promise.all(reads)).flatMap(({ last, ...it }) => (last ? { last, ...it } : [])));
  }
  // Without dates, the position stays until all deletions have been returned.
  const newest = next.at(-1);
  const upTo = hasMore ? (newest?.isDated ? newest.at : position.since) : reached;
  const now = client.clock.now().getTime();
  return { deleted, position: advance(position, seen, Math.min(upTo, now)), hasMore };
}

/** The newest first. */
async function readHistory(client: FhirClient, since: number) {
  const deletions: Deletion[] = [];
  let reached = since;
  const pages = client.history('Appointment/_history', [
    ['_since', new Date(since).toISOString()],
    ['_count', String(defaultPageSize)],
  ]);
  for await (const entries of pages) {
    for (const entry of entries) {
      const at = timeOf(entry);
      reached = Math.max(reached, at ?? since);
      const [, id, version] = /Appointment\/([^/]+)(?:\/_history\/([^/]+))?$/.exec(entry.request?.url ?? '') ?? [];
      if (!isDeletion(entry) || id === undefined) continue;
      const key = versionKey(id, version ?? entry.response?.etag ?? String(at));
      deletions.push({ id, version: key, at: at ?? client.clock.now().getTime(), isDated: at !== undefined });
    }
  }
  return { deletions, reached };
}

/**
 * Deleted Appointments of Medplum, the newest first. It sends their ids and when they were deleted, and nothing else:
 * https://www.medplum.com/docs/fhir-datastore/deleting-data
 */
async function searchDeleted(client: FhirClient, since: number) {
  const deletions: Deletion[] = [];
  let reached = since;
  const pages = client.pages('Appointment', [
    ['_deleted', 'true'],
    ['_lastUpdated', `ge${new Date(since).toISOString()}`],
    ['_sort', '-_lastUpdated'],
    ['_count', String(defaultPageSize)],
  ]);
  for await (const { resources } of pages) {
    for (const { id, meta, ...rest } of resources) {
      // Every Appointment has a status. A server that ignores the parameter sends those that were not deleted.
      if ('status' in rest) return { deletions: [], reached: since };
      const at = readInstant(meta?.lastUpdated)?.getTime();
      if (id === undefined || at === undefined) continue;
      reached = Math.max(reached, at);
      deletions.push({ id, version: versionKey(id, meta?.lastUpdated ?? ''), at, isDated: true });
    }
  }
  return { deletions, reached };
}

/** Whether the server knows the search for deleted Appointments. On a server without Appointments, the result is not certain. */
export async function searchesDeleted(client: FhirClient): Promise<boolean> {
  try {
    const pages = client.pages('Appointment', [
      ['_deleted', 'true'],
      ['_count', '1'],
    ]);
    const page = await pages.next();
    return page.done === true || page.value.resources.every((it: FhirResource) => !('status' in it));
  } catch (error) {
    if (isRejection(error)) return false;
    throw error;
  }
}

/** `undefined`: the Appointment exists again, or its last version is not known. */
async function lastVersion(client: FhirClient, id: string): Promise<FhirAppointment | undefined> {
  const versions = client.history(`Appointment/${id}/_history`, [['_count', '20']]);
  const page = await versions.next().catch((error: unknown) => {
    if (isRejection(error)) return undefined;
    throw error;
  });
  if (!page || page.done) return undefined;
  const [newest, ...earlier] = page.value;
  if (!newest || !isDeletion(newest)) return undefined;
  return earlier.find(({ resource }) => resource)?.resource as FhirAppointment | undefined;
}

/** Medplum says 410 in the response. */
function isDeletion({ request, response, resource }: BundleEntry): boolean {
  return resource === undefined && (request?.method === 'DELETE' || response?.status?.startsWith('410') === true);
}

function timeOf({ resource, response }: BundleEntry): number | undefined {
  return readInstant(resource?.meta?.lastUpdated ?? response?.lastModified)?.getTime();
}
