import { ConnectorError } from '@crossward/connector-kit';
import type { FhirResource } from '../fhir.ts';
import { readInstant } from '../mappers/instants.ts';
import { advance, type Position, type SeenVersion, versionKey } from './change-cursor.ts';

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

interface ReadingOptions<Resource> {
  /** At most `most` of the resources that `isCostly` are returned; the next call returns the rest. */
  readonly limited?: { readonly most: number; isCostly(resource: Resource): boolean };
  /** Called for a resource that does not say when it was changed. It hides no other. */
  leftOut?(resource: Resource): void;
}

/**
 * Reads pages of resources by `meta.lastUpdated`, the oldest first, up to the first page with a version that the cursor does
 * not contain. All pages if the server does not sort.
 *
 * A resource that changes between two pages moves to the end, and with servers that page by offset another one moves to the
 * page that was read before. So the next call starts no later than at the end of the page before the last one.
 *
 * @param now the EHR's time, in milliseconds. A later `meta.lastUpdated` does not move the cursor on
 * @throws ConnectorError `unsupported` if no resource says when it was changed
 */
export async function readVersions<Resource extends FhirResource>(
  pages: AsyncIterable<Page<Resource>>,
  cursor: Position,
  now: number,
  { limited, leftOut }: ReadingOptions<Resource> = {},
): Promise<Versions<Resource>> {
  const known = new Set(cursor.seen.map(([version]) => version));
  let found: Dated<Resource>[] = [];
  let [hasDated, hasUndated] = [false, false];
  let isSorted = true;
  let reached = cursor.since;
  let reachedBefore: number | undefined;
  let last = Number.NEGATIVE_INFINITY;
  for await (const { resources, sorted } of pages) {
    reachedBefore = last === Number.NEGATIVE_INFINITY ? undefined : reached;
    isSorted &&= sorted;
    for (const resource of resources) {
      const at = updatedAt(resource);
      if (at === undefined) {
        hasUndated = true;
        leftOut?.(resource);
        continue;
      }
      hasDated = true;
      // A server can repeat `_sort` in its response without sorting.
      isSorted &&= at >= last;
      last = at;
      reached = Math.max(reached, at);
      // A server that ignores the parameter returns everything.
      if (at >= cursor.since && !known.has(versionOf(resource))) found.push({ resource, at });
    }
    if (isSorted && found.length > 0) break;
  }
  if (hasUndated && !hasDated) {
    throw new ConnectorError('unsupported', 'The EHR does not say when an Appointment was changed');
  }
  const costly = limited && isSorted ? found.filter((it) => limited.isCostly(it.resource)) : [];
  const surplus = limited && costly[limited.most];
  if (surplus) {
    found = found.slice(0, found.indexOf(surplus));
    reached = Math.min(reached, surplus.at);
  }
  const seen = [...cursor.seen, ...found.map((it): SeenVersion => [versionOf(it.resource), it.at])];
  const position = advance(cursor, seen, Math.min(reachedBefore ?? reached, now));
  const inOrder = found.toSorted((a, b) => a.at - b.at);
  return { found: inOrder.map(({ resource }) => resource), position, hasMore: found.length > 0 };
}

/** `meta.lastUpdated` in milliseconds. `undefined`: the resource does not say it. */
export function updatedAt({ meta }: FhirResource): number | undefined {
  return readInstant(meta?.lastUpdated)?.getTime();
}

interface Dated<Resource> {
  readonly resource: Resource;
  readonly at: number;
}

function versionOf({ id, meta }: FhirResource): string {
  return versionKey(id ?? '', meta?.versionId ?? meta?.lastUpdated ?? '');
}
