import type { Bundle, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { Directory } from './directory.ts';
import { type RecordPage, searchSet } from './search/bundle.ts';
import { readSearch, type Search } from './search/input.ts';
import { pagesById, pagesInOrder } from './search/pages.ts';
import { placeOf } from './search/place.ts';

/** A type of which a search lists what the directory of a care unit has. */
export interface ListedType {
  readonly type:
    | 'Practitioner'
    | 'PractitionerRole'
    | 'Organization'
    | 'Location'
    | 'Device'
    | 'HealthcareService'
    | 'Schedule';
  readonly parameters: readonly string[];
  readonly includable: readonly string[];
  /** What a search needs of the directory. */
  readonly needs: readonly ('resources' | 'services')[];
  /** Parameters that the links do not repeat. */
  hidden?(search: Search): readonly string[];
  /** Reads the filters. @throws Problem `request_invalid` */
  matching(request: FastifyRequest, search: Search): (directory: Directory) => readonly ListedEntry[];
}

export interface ListedEntry {
  readonly id: string;
  /** `undefined`: its id is too long to be named. */
  readonly shown: Resource | undefined;
  /** What the search includes of it. */
  readonly included?: () => readonly Included[];
}

/** `key`: the same for the same resource, even if its id is too long to be named. */
interface Included {
  readonly key: string;
  readonly resource: Resource;
}

/** Searches in the directory of the care unit of a request. */
export function searchDirectory(
  listed: ListedType,
  read: (request: FastifyRequest) => Promise<Directory>,
): (request: FastifyRequest) => Promise<Bundle> {
  return async (request) => {
    const search = readSearch(request, listed.parameters, listed.includable, sortsOf(listed));
    const matching = listed.matching(request, search);
    return showListed(request, listed, search, async () => ({ entries: matching(await read(request)) }));
  };
}

/** What has a name is sorted by it. */
export function sortsOf({ parameters }: Pick<ListedType, 'parameters'>): readonly string[] {
  return parameters.filter((it) => it === 'name' || it === 'device-name').flatMap((it) => [it, `-${it}`]);
}

const collator = new Intl.Collator('en');

/** What has no name comes last. */
function sortedByName(entries: readonly ListedEntry[], sort: string): ListedEntry[] {
  const named = entries.map((entry) => ({ entry, name: entry.shown ? nameIn(entry.shown) : '' }));
  const direction = sort.startsWith('-') ? -1 : 1;
  const compare = (a: string, b: string) => (a && b ? direction * collator.compare(a, b) : Number(!a) - Number(!b));
  return named.toSorted((a, b) => compare(a.name, b.name)).map(({ entry }) => entry);
}

/** The name of a resource. `''`: the EHR has none. */
export function nameIn(resource: Resource): string {
  switch (resource.resourceType) {
    case 'Practitioner':
      return resource.name?.[0]?.text ?? '';
    case 'Device':
      return resource.deviceName?.[0]?.name ?? '';
    default:
      return 'name' in resource && typeof resource.name === 'string' ? resource.name : '';
  }
}

interface Loaded {
  readonly entries: readonly ListedEntry[];
  readonly outcomes?: RecordPage<ListedEntry>['outcomes'];
}

/** The Bundle of a search in memory. */
export async function showListed(
  request: FastifyRequest,
  { type, hidden }: ListedType,
  search: Search,
  load: () => Promise<Loaded>,
): Promise<Bundle> {
  const nothing = (hidden?.(search) ?? []).map((name) => [name, []] as const);
  const place = placeOf(request, type, search, Object.fromEntries(nothing));
  const included = new Map<Resource, ListedEntry['included']>();
  return searchSet(search, place, {
    async page(limit, cursor) {
      const { entries, outcomes } = await load();
      const { sort } = search;
      const pages =
        sort === undefined
          ? pagesById(request, place, async () => entries)
          : pagesInOrder(request, place, async () => sortedByName(entries, sort));
      return { ...(await pages(limit, cursor)), ...(outcomes && { outcomes }) };
    },
    show({ shown, included: more }) {
      if (shown) included.set(shown, more);
      return shown;
    },
    async include(found) {
      const all = found.flatMap((it) => included.get(it)?.() ?? []);
      return [...new Map(all.map(({ key, resource }) => [key, resource])).values()];
    },
  });
}

export const asIncluded = (resource: Resource): Included => ({
  key: `${resource.resourceType}/${resource.id}`,
  resource,
});
