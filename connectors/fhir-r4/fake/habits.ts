import type { IncomingHttpHeaders } from 'node:http';
import type { Bundle, CapabilityStatement } from '../src/fhir.ts';

/** What a published server does that others do not. */
export interface ServerHabits {
  /** Whether every body begins with a byte order mark. */
  readonly byteOrderMark?: boolean;
  /** Of every body. */
  readonly contentType?: string;
  readonly fhirVersion?: string;
  /** The status of the answer to `metadata`. */
  readonly metadata?: 401 | 404;
  /** The parameters that searches for a type may have. Any other is refused. The CapabilityStatement lists them. */
  readonly searches?: Readonly<Record<string, readonly string[]>>;
  /** Whether the CapabilityStatement lists nothing. */
  readonly listsNothing?: boolean;
  /** Groups of parameters of which a search for a type needs all of one, such as `['_id']` or `['patient', 'date']`. */
  readonly needs?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Parameters that are refused, of every type or of one: `_sort`, `Slot._count`. */
  readonly refuses?: readonly string[];
  /** Whether `_id` can name one resource only. */
  readonly refusesIdLists?: boolean;
  /** Whether a search by POST is refused. */
  readonly refusesPostedSearches?: boolean;
  readonly refusesSearchesInUrls?: boolean;
  /** Types that it has no read of. */
  readonly readsNo?: readonly string[];
  /** Types of which its CapabilityStatement lists no read. */
  readonly statesNoReadOf?: readonly string[];
  /** How many hours the two bounds of a search for Slots may be apart. */
  readonly longestSlotHours?: number;
  /** Without this header, a gateway in front of it refuses every request. */
  readonly wantsHeader?: readonly [name: string, value: string];
  /** Types that it has, and that its CapabilityStatement does not list. */
  readonly unlisted?: readonly string[];
  /** Types that it does not have. */
  readonly lacks?: readonly string[];
  /** Resources that the client may not read, alone or in a list of ids. */
  readonly forbids?: readonly string[];
  /** The answer to a search that finds nothing. */
  readonly empty?: 404 | 400 | 'outcome with 200' | 204 | 'without entry' | 'entry is null';
  /** The answer to a read of what does not exist. */
  readonly absent?: 400 | 410 | 'outcome with 200';
  /** Whether searches count their matches and send none. */
  readonly countsOnly?: boolean;
  /** How its links to next pages are written. */
  readonly nextLinks?: 'relative' | 'of another path' | 'of another origin' | 'of an unknown origin' | 'repeated';
  /** The base of the `fullUrl` of each entry. Without it, there is none. */
  readonly namesItself?: string;
  /** Entries that are added to every list. */
  readonly surplus?: readonly unknown[];
}

export interface Reply {
  readonly status: number;
  readonly resource?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly form: URLSearchParams;
}

export function contentTypeOf({ contentType }: ServerHabits): Readonly<Record<string, string>> {
  return contentType === undefined ? {} : { 'content-type': contentType };
}

/** The other path and the other origin under which the server names itself. */
export const otherPath = '/behind/proxy';
export const otherBase = 'http://inside.example/r4';

/** Answers as a server with these habits. */
export function withHabits(habits: ServerHabits, asked: Asked, answer: () => Reply): Reply {
  const [type = '', id] = asked.path.slice(1).split('/');
  const { wantsHeader: [name = '', value] = [] } = habits;
  if (value !== undefined && asked.headers[name] !== value) return { status: 401, resource: { statusCode: 401 } };
  if (type === 'metadata') return statement(habits, answer);
  if (habits.lacks?.includes(type)) return refusal(404, 'not-supported');
  const isSearch = id === '_search' || (asked.method === 'GET' && (id === undefined || id === ''));
  if (asked.method !== 'GET' && !isSearch) return answer();
  if (!isSearch) {
    if (habits.readsNo?.includes(type)) return refusal(405, 'not-supported');
    if (habits.forbids?.includes(`${type}/${id}`)) return refusal(403, 'forbidden');
    const read = answer();
    return read.status === 404 || read.status === 410 ? absent(habits, read) : read;
  }
  if (asked.method === 'GET' && habits.refusesSearchesInUrls && !asked.form.has('_offset'))
    return refusal(405, 'not-supported');
  if (asked.method === 'POST' && habits.refusesPostedSearches) return refusal(405, 'not-supported');
  const refused = refusalOf(habits, type, asked.form);
  if (refused) return refused;
  const found = answer();
  return found.status === 200 ? list(habits, type, found) : found;
}

function refusalOf(habits: ServerHabits, type: string, form: URLSearchParams): Reply | undefined {
  const { searches, needs, refuses = [], forbids = [], refusesIdLists, longestSlotHours } = habits;
  // The fake server pages by an offset in its links.
  const names = [...form.keys()].filter((name) => name !== '_offset');
  const allowed = searches?.[type];
  if (names.some((name) => refuses.includes(name) || refuses.includes(`${type}.${name}`)))
    return refusal(400, 'invalid');
  if (allowed && !names.every((name) => allowed.includes(name))) return refusal(400, 'invalid');
  const groups = needs?.[type];
  const isMet = (group: readonly string[]) => group.every((name) => names.includes(name));
  if (groups && !groups.some(isMet)) return refusal(400, 'required');
  if (form.getAll('date').length === 1 && groups) return refusal(400, 'required');
  if (type === 'Slot' && longestSlotHours !== undefined && hoursOf(form) > longestSlotHours)
    return refusal(400, 'invalid');
  const ids = form.get('_id')?.split(',') ?? [];
  if (refusesIdLists && ids.length > 1) return refusal(400, 'invalid');
  return ids.some((it) => forbids.includes(`${type}/${it}`)) ? refusal(403, 'forbidden') : undefined;
}

function hoursOf(form: URLSearchParams): number {
  const [from = 0, until = 0] = form.getAll('start').map((it) => Date.parse(it.slice(2)));
  return (until - from) / (60 * 60 * 1000);
}

function list(habits: ServerHabits, type: string, found: Reply): Reply {
  const { empty, surplus = [], countsOnly, nextLinks, namesItself } = habits;
  const bundle = found.resource as Bundle;
  const named = (bundle.entry ?? []).map((it) =>
    namesItself === undefined ? it : { fullUrl: `${namesItself}/${type}/${it.resource?.id}`, ...it },
  );
  const entry = [...named, ...surplus];
  if (countsOnly) return { ...found, resource: { ...bundle, entry: undefined, total: entry.length, link: undefined } };
  if (entry.length === 0 && empty !== undefined) {
    if (empty === 204) return { status: 204 };
    if (empty === 'without entry') return { ...found, resource: { ...bundle, entry: undefined } };
    if (empty === 'entry is null') return { ...found, resource: { ...bundle, entry: null, link: null } };
    return refusal(empty === 'outcome with 200' ? 200 : empty, 'not-found');
  }
  const link = (bundle.link ?? []).map((it) =>
    it.relation === 'next' && nextLinks ? { ...it, url: rewritten(it.url ?? '', nextLinks, type) } : it,
  );
  return { ...found, resource: { ...bundle, entry, link } };
}

function rewritten(url: string, how: NonNullable<ServerHabits['nextLinks']>, type: string): string {
  const { origin, search, pathname } = new URL(url);
  switch (how) {
    case 'relative':
      return `${type}${search}`;
    case 'of another path':
      return `${origin}${otherPath}${pathname}${search}`;
    case 'of another origin':
      return `${otherBase}${pathname}${search}`;
    case 'of an unknown origin':
      return `http://unknown.example/elsewhere${pathname}${search}`;
    case 'repeated':
      return `${origin}${pathname}${search.replace(/_offset=\d+/, '_offset=0')}`;
  }
}

function absent({ absent: how }: ServerHabits, read: Reply): Reply {
  if (how === undefined) return read;
  return refusal(how === 'outcome with 200' ? 200 : how, 'not-found');
}

function statement(
  {
    fhirVersion,
    searches,
    lacks = [],
    readsNo = [],
    statesNoReadOf = readsNo,
    unlisted = [],
    listsNothing,
    metadata,
  }: ServerHabits,
  answer: () => Reply,
): Reply {
  if (metadata) return refusal(metadata, metadata === 401 ? 'login' : 'not-found');
  const found = answer();
  const { rest = [], ...own } = found.resource as CapabilityStatement;
  const resource = (rest[0]?.resource ?? [])
    .filter(({ type }) => ![...lacks, ...unlisted].includes(type ?? ''))
    .map((it) => {
      const listed = listsNothing ? [] : searches?.[it.type ?? '']?.filter((name) => name !== '_count');
      const interaction = statesNoReadOf.includes(it.type ?? '')
        ? it.interaction?.filter(({ code }) => code !== 'read')
        : it.interaction;
      const has = interaction ? { ...it, interaction } : it;
      return listed === undefined ? has : { ...has, searchParam: listed.map((name) => ({ name })), searchInclude: [] };
    });
  return {
    ...found,
    resource: { ...own, ...(fhirVersion === undefined ? {} : { fhirVersion }), rest: [{ ...rest[0], resource }] },
  };
}

function refusal(status: number, code: string): Reply {
  const diagnostics = 'Refused for Tolvan Tolvansson 191212121212';
  return { status, resource: { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code, diagnostics }] } };
}
