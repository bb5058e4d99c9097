import { ConnectorError } from '@crossward/connector-kit';
import { advance, type Position, type SeenVersion, versionKey } from './change-cursor.ts';
import type { FhirResource } from './fhir.ts';
import { readInstant } from './instants.ts';

interface Page<Resource> {
  readonly resources: readonly Resource[];
  /** The server says that it has sorted them. */
  readonly sorted: boolean;
}

interface Versions<Resource> {
  readonly found: readonly Resource[];
  /** Where the next call continues. */
  readonly position: Position;
  readonly hasMore: boolean;
}

/**
 * Reads pages of resources by `meta.lastUpdated`, the oldest first, up to the first page with a version that the cursor does
 * not contain. All pages if the server does not sort.
 *
 * A resource that changes between two pages moves to the end, and with servers that page by offset another one moves to the
 * page that was read before. So the next call starts no later than at the end of the page before the last one.
 *
 * @param now the EHR's time, in milliseconds. A later `meta.lastUpdated` does not move the cursor on
 * @param limited at most `most` of the resources that `isCostly` are returned; the next call returns the rest
 */
export async function readVersions<Resource extends FhirResource>(
  pages: AsyncIterable<Page<Resource>>,
  cursor: Position,
  now: number,
  limited?: { readonly most: number; isCostly(resource: Resource): boolean },
): Promise<Versions<Resource>> {
  const known = new Set(cursor.seen.map(([version]) => version));
  let found: Resource[] = [];
  let isSorted = true;
  let reached = cursor.since;
  let reachedBefore: number | undefined;
  let last = Number.NEGATIVE_INFINITY;
  for await (const { resources, sorted } of pages) {
    reachedBefore = last === Number.NEGATIVE_INFINITY ? undefined : reached;
    isSorted &&= sorted;
    for (const resource of resources) {
      const at = updatedAt(resource);
      // A server can repeat `_sort` in its response without sorting.
      isSorted &&= at >= last;
      last = at;
      reached = Math.max(reached, at);
      // A server that ignores the parameter returns everything.
      if (at >= cursor.since && !known.has(versionOf(resource))) found.push(resource);
    }
    if (isSorted && found.length > 0) break;
  }
  const surplus = limited && isSorted ? found.filter(limited.isCostly)[limited.most] : undefined;
  if (surplus) {
    found = found.slice(0, found.indexOf(surplus));
    reached = Math.min(reached, updatedAt(surplus));
  }
  const seen = [...cursor.seen, ...found.map((it): SeenVersion => [versionOf(it), updatedAt(it)])];
  const position = advance(cursor, seen, Math.min(reachedBefore ?? reached, now));
  return { found, position, hasMore: found.length > 0 };
}

/** `meta.lastUpdated` in milliseconds. */
export function updatedAt({ meta }: FhirResource): number {
  const at = readInstant(meta?.lastUpdated)?.getTime();
  if (at === undefined) throw new ConnectorError('unsupported', 'The EHR does not say when an Appointment was changed');
  return at;
}

function versionOf({ id, meta }: FhirResource): string {
  return versionKey(id ?? '', meta?.versionId ?? meta?.lastUpdated ?? '');
}
