import { randomUUID } from 'node:crypto';
import type { Bundle, BundleEntry, OperationOutcome, OperationOutcomeIssue, Resource } from '@medplum/fhirtypes';
import { Problem } from '../../problems/problem.ts';
import type { Reason } from '../../problems/reasons.ts';
import { warning } from '../operation-outcome.ts';
import type { Search } from './input.ts';

/** A page of native records. */
export interface RecordPage<Entry> {
  readonly entries: readonly Entry[];
  readonly next: string | null;
  /** What may be missing. */
  readonly outcomes?: readonly OperationOutcomeIssue[];
}

/** What a search lists. */
export interface Listing<Entry, Found extends Resource> {
  page(limit: number, cursor: string | undefined): Promise<RecordPage<Entry>>;
  /** `undefined`: the record's id is too long to be named. */
  show(entry: Entry): Found | undefined;
  /** What the search includes of what it has found, each once. */
  include?(found: readonly Found[]): Promise<readonly Resource[]>;
}

/** More are not counted. */
const mostCounted = 10_000;
const longestPage = 500;

/** What a search names and nobody has: it finds nothing. */
const namesNobody: readonly Reason[] = ['patient_not_found', 'resource_not_found', 'healthcare_service_not_found'];

/** @param self the parameters that were understood, for the links */
export interface SearchPlace {
  /** `{base}/Slot` */
  readonly url: string;
  readonly base: string;
  readonly self: readonly (readonly [string, string])[];
}

/**
 * Performs a search: https://hl7.org/fhir/R4/http.html#search
 *
 * @throws Problem `search_too_costly`, or what the native endpoint throws
 */
export async function searchSet<Entry, Found extends Resource>(
  search: Search,
  place: SearchPlace,
  listing: Listing<Entry, Found>,
): Promise<Bundle> {
  try {
    return await searched(search, place, listing);
  } catch (error) {
    if (!(error instanceof Problem) || !namesNobody.includes(error.reason)) throw error;
    return bundleOf(place, search, { total: 0, entries: [], next: null });
  }
}

async function searched<Entry, Found extends Resource>(
  search: Search,
  place: SearchPlace,
  listing: Listing<Entry, Found>,
): Promise<Bundle> {
  const counted = search.isCounted ? await count(listing) : undefined;
  if (search.count === 0)
    return bundleOf(place, search, { total: counted?.total, entries: outcome(counted?.outcomes), next: null });
  const { entries, next, outcomes = [] } = await listing.page(search.count, search.page);
  const shown = entries.map((entry) => listing.show(entry));
  const found = shown.filter((it) => it !== undefined);
  const more = (await listing.include?.(found)) ?? [];
  const included = more.filter(({ id }) => id !== undefined);
  const isWhole = next === null && search.page === undefined && outcomes.length === 0;
  return bundleOf(place, search, {
    total: counted ? counted.total : isWhole ? found.length : undefined,
    entries: [
      ...found.map((it) => entryOf(place, it, 'match')),
      ...included.map((it) => entryOf(place, it, 'include')),
      ...outcome([...outcomes, ...unnamed(shown.length - found.length + more.length - included.length)]),
    ],
    next,
  });
}

/** `total` is `undefined` if something may be missing. */
async function count<Entry, Found extends Resource>({ page, show }: Listing<Entry, Found>) {
  let total = 0;
  let cursor: string | undefined;
  let missing: readonly OperationOutcomeIssue[] = [];
  do {
    const { entries, next, outcomes = [] } = await page(longestPage, cursor);
    missing = outcomes;
    total += entries.filter((it) => show(it) !== undefined).length;
    if (total > mostCounted) {
      throw new Problem('search_too_costly', { detail: `At most ${mostCounted} records are counted.` });
    }
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return { total: missing.length > 0 ? undefined : total, outcomes: missing };
}

interface Content {
  readonly total: number | undefined;
  readonly entries: readonly BundleEntry[];
  readonly next: string | null;
}

function bundleOf(
  { url, self }: SearchPlace,
  { count: perPage, page }: Search,
  { total, entries, next }: Content,
): Bundle {
  const sized = [...self, ['_count', String(perPage)]] as const;
  const link = (relation: string, parameters: readonly (readonly [string, string])[]) => ({
    relation,
    url: `${url}?${new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]))}`,
  });
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(total === undefined ? {} : { total }),
    link: [
      link('self', page === undefined ? sized : [...sized, ['_page', page]]),
      ...(next === null ? [] : [link('next', [...sized, ['_page', next]])]),
    ],
    ...(entries.length > 0 ? { entry: [...entries] } : {}),
  };
}

function entryOf({ base }: SearchPlace, resource: Resource, mode: 'match' | 'include'): BundleEntry {
  return { fullUrl: `${base}/${resource.resourceType}/${resource.id}`, resource, search: { mode } };
}

function unnamed(number: number): OperationOutcomeIssue[] {
  const text = `${number} records have ids that are too long for FHIR, and are left out.`;
  return number === 0 ? [] : [warning(text, 'Bundle.entry')];
}

function outcome(issues: readonly OperationOutcomeIssue[] = []): BundleEntry[] {
  if (issues.length === 0) return [];
  const resource: OperationOutcome = { resourceType: 'OperationOutcome', issue: [...issues] };
  return [{ fullUrl: `urn:uuid:${randomUUID()}`, resource, search: { mode: 'outcome' } }];
}
