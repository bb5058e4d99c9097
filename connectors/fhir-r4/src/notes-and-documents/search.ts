import { compare, type FhirDocumentReference } from '../fhir.ts';
import { isFhirId } from '../patients/patients.ts';
import type { FhirClient, SearchParameters } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';
import { createdAt } from './document-reference.ts';

/** Few, because the content may be inline. */
const pageSize = 20;

export interface DocumentPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface DocumentSearch {
  readonly patientId: string;
  /** Parameters that the server may ignore: `select` checks them too. */
  readonly parameters: SearchParameters;
  readonly start?: Date | undefined;
  /** Exclusive. */
  readonly end?: Date | undefined;
  readonly after?: DocumentPosition | undefined;
  readonly limit: number;
  /** Those of a page that are wanted. */
  select(documents: readonly FhirDocumentReference[]): Promise<readonly FhirDocumentReference[]>;
}

export type SearchDocuments = (search: DocumentSearch) => Promise<readonly FhirDocumentReference[]>;

/**
 * Searches a patient's documents, newest first, then by id descending. The order of equal dates is up to the server, so
 * all documents of a date are read and sorted here. Documents without a date are in no search by date and are searched for on their own.
 */
export function documentSearch(client: FhirClient, { post }: { readonly post: boolean }): SearchDocuments {
  let rejectsMissing = false;

  async function undated(common: SearchParameters): Promise<readonly FhirDocumentReference[]> {
    if (rejectsMissing) return [];
    const parameters: SearchParameters = [...common, ['date:missing', 'true'], ['_count', String(pageSize)]];
    try {
      return await client.search<FhirDocumentReference>('DocumentReference', parameters, { post });
    } catch (error) {
      if (!isRejection(error)) throw error;
      rejectsMissing = true;
      return [];
    }
  }

  return async (search) => {
    const { patientId, limit } = search;
    if (!isFhirId(patientId)) return [];
    const common: SearchParameters = [['patient', `Patient/${patientId}`], ...search.parameters];
    const found = new Map<string, FhirDocumentReference>();
    const add = async (documents: readonly FhirDocumentReference[]) => {
      const wanted = await search.select(documents.filter((it) => isInRange(it, search)));
      for (const document of wanted) found.set(document.id ?? '', document);
    };
    const [others] = await Promise.all([undated(common), addDated(client, common, search, { post, add, found })]);
    await add(others);
    return [...found.values()].sort((a, b) => byPosition(positionOf(a), positionOf(b))).slice(0, limit);
  };
}

interface Collecting {
  readonly post: boolean;
  readonly found: ReadonlyMap<string, FhirDocumentReference>;
  add(documents: readonly FhirDocumentReference[]): Promise<void>;
}

/** Reads pages until there are enough documents that are certainly newer than all on the pages that follow. */
async function addDated(
  client: FhirClient,
  common: SearchParameters,
  { start, end, after, limit }: DocumentSearch,
  { post, found, add }: Collecting,
): Promise<void> {
  // A server may store whole seconds.
  const latest = after && new Date(after.createdAt.getTime() + 1000);
  const before = latest && end ? new Date(Math.min(latest.getTime(), end.getTime())) : (latest ?? end);
  const parameters: SearchParameters = [
    ...common,
    ...(start ? [['date', `ge${start.toISOString()}`] as const] : []),
    ...(before ? [['date', `lt${before.toISOString()}`] as const] : []),
    ['_sort', '-date'],
    ['_count', String(pageSize)],
  ];
  let sorted = true;
  let reached = Number.POSITIVE_INFINITY;
  for await (const page of client.pages('DocumentReference', parameters, { post })) {
    sorted &&= page.sorted;
    const documents = page.resources as readonly FhirDocumentReference[];
    for (const document of documents) {
      const time = createdAt(document).getTime();
      if (time > reached) sorted = false;
      reached = Math.min(reached, time);
    }
    await add(documents);
    // The next page may have more documents of the last date.
    const complete = [...found.values()].filter((it) => createdAt(it).getTime() > reached).length;
    if (sorted && complete >= limit) return;
  }
}

function isInRange(document: FhirDocumentReference, { start, end, after }: DocumentSearch): boolean {
  const position = positionOf(document);
  if (start && position.createdAt < start) return false;
  if (end && position.createdAt >= end) return false;
  return after === undefined || byPosition(position, after) > 0;
}

function positionOf(document: FhirDocumentReference): DocumentPosition {
  return { createdAt: createdAt(document), id: document.id ?? '' };
}

/** Newest first, then by id descending. */
function byPosition(a: DocumentPosition, b: DocumentPosition): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || compare(b.id, a.id);
}
