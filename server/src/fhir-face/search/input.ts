import type { FastifyRequest } from 'fastify';
import { inQuery } from '../../problems/places.ts';
import { type Fault, type Flaw, Problem, problemAt } from '../../problems/problem.ts';
import { preferenceOf } from '../preferences.ts';
import { parametersOf, readToken, splitAt, type Token, unescaped } from './parameters.ts';
import { withTypeInValue } from './references.ts';

/** A search as it is understood. */
export interface Search {
  /** The values of each parameter, in the order in which they were sent. Repeated parameters must all match. */
  readonly filters: ReadonlyMap<string, readonly string[]>;
  /** `Slot:schedule`, or with a type `Schedule:actor:Practitioner`. */
  readonly includes: readonly string[];
  /** Entries on a page. 0: only their number is wanted. */
  readonly count: number;
  readonly page: string | undefined;
  readonly isCounted: boolean;
  /** A parameter, with `-` before it in descending order. `undefined`: in the order of the list. */
  readonly sort: string | undefined;
}

const defaultCount = 100;
const mostCount = 500;

/**
 * Result parameters that change nothing here, as https://hl7.org/fhir/R4/search.html allows. They are missing in `self`, which
 * shows what was understood.
 */
const ignored: ReadonlySet<string> = new Set([
  '_elements',
  '_format',
  '_pretty',
  '_contained',
  '_containedType',
  '_totalMethod',
  '_revinclude',
  '_revinclude:iterate',
]);

/**
 * Reads the parameters of a search, from the URL and from a form.
 *
 * A parameter that is not known is an error: without it, the search would find more. Only a client that asks for
 * `handling=lenient` has it ignored, if another parameter still selects.
 *
 * @param names the parameters of this type
 * @param includable what `_include` can name, such as `Slot:schedule`
 * @param sorts what `_sort` can name
 * @throws Problem `request_invalid`
 */
export function readSearch(
  request: Pick<FastifyRequest, 'headers' | 'query' | 'body'>,
  names: readonly string[],
  includable: readonly string[] = [],
  sorts: readonly string[] = [],
): Search {
  const filters = new Map<string, string[]>();
  const results = new Map<string, string[]>();
  const unknown: string[] = [];
  for (const [name, value] of parametersOf(request).map(withTypeInValue)) {
    if (ignored.has(name) || value === '') continue;
    const known = names.includes(name) ? filters : resultParameters.has(name) ? results : undefined;
    if (!known) {
      unknown.push(name);
      continue;
    }
    const values = known.get(name) ?? [];
    values.push(value);
    known.set(name, values);
    if (values.length > mostValues) throw tooManyValues(name);
  }
  const isLenient = preferenceOf(request, 'handling') === 'lenient' && filters.size > 0;
  if (unknown.length > 0 && !isLenient) throw unknownParameters(unknown, names);
  const includes = [...(results.get('_include') ?? []), ...(results.get('_include:iterate') ?? [])];
  // A third part narrows the type.
  const isIncludable = (include: string) => includable.includes(include.split(':').slice(0, 2).join(':'));
  if (!includes.every(isIncludable) && preferenceOf(request, 'handling') !== 'lenient') {
    throw searchFault('_include', `_include takes ${includable.join(', ') || 'nothing here'}.`, 'not-supported');
  }
  const summary = results.get('_summary')?.at(-1);
  const count = summary === 'count' ? 0 : readCount(results.get('_count')?.at(-1));
  return {
    filters,
    includes: includes.filter(isIncludable),
    count,
    page: results.get('_page')?.at(-1),
    isCounted: count === 0 || results.get('_total')?.at(-1) === 'accurate',
    sort: readSort(request, results.get('_sort') ?? [], sorts),
  };
}

const resultParameters: ReadonlySet<string> = new Set([
  '_count',
  '_include',
  '_include:iterate',
  '_page',
  '_sort',
  '_summary',
  '_total',
]);

/** https://hl7.org/fhir/R4/search.html#count: an upper limit. */
function readCount(text: string | undefined): number {
  if (text === undefined) return defaultCount;
  if (!/^\d{1,9}$/.test(text)) throw searchFault('_count', 'The query parameter _count must be a whole number.');
  return Math.min(Number(text), mostCount);
}

/**
 * Another order than the one that was asked for would be taken for it: https://hl7.org/fhir/R4/search.html#sort. Clients that send
 * `_id` last, or alone, want an order that stays the same between pages, as each has.
 */
function readSort(
  request: Pick<FastifyRequest, 'headers'>,
  sent: readonly string[],
  sorts: readonly string[],
): string | undefined {
  const [sort, ...others] = sent.map((it) => it.replace(/(^|,)_id$/, '')).filter((it) => it !== '');
  if (sort === undefined || (others.length === 0 && sorts.includes(sort))) return sort;
  if (preferenceOf(request, 'handling') === 'lenient') return undefined;
  throw searchFault('_sort', `_sort takes ${sorts.join(' or ') || 'nothing here'}.`, 'not-supported');
}

function unknownParameters(sent: readonly string[], names: readonly string[]): Problem {
  const detail = `This search has the parameters ${names.join(', ')}. Others would be ignored, and more be found than was asked for.`;
  const faults = sent.map((name): Fault => {
    return { place: inQuery(echo(name)), reason: 'request_invalid', detail, flaw: 'not-supported' };
  });
  return new Problem('request_invalid', { detail, faults });
}

/** The name of a parameter, unless it may be something else: people type everything everywhere. */
function echo(name: string): string {
  return /^[A-Za-z_.:-]{1,60}$/.test(name) ? name : '';
}

/** What is wrong with a parameter. The value is not repeated. */
export function searchFault(parameter: string, detail: string, flaw: Flaw = 'value'): Problem {
  const place = inQuery(parameter);
  return new Problem('request_invalid', { detail, faults: [{ place, reason: 'request_invalid', detail, flaw }] });
}

/** The values of a parameter that is a list: any of them matches. */
export function anyOf(search: Search, name: string): readonly string[] | undefined {
  return partsOf(search, name)?.map(unescaped);
}

/** The values of a parameter that can be sent several times: of each list, any matches. */
export function groupsOf({ filters }: Search, name: string): readonly (readonly string[])[] {
  return (filters.get(name) ?? []).map((sent) => valuesIn(name, sent).map(unescaped));
}

/** The tokens of a parameter: any of them matches. */
export function tokensOf(search: Search, name: string): readonly Token[] | undefined {
  return partsOf(search, name)?.map(readToken);
}

/**
 * The codes that tokens name in a code system, for an element that has no other system. `|code` has no system, as the element
 * itself. A token of another system names nothing. `undefined`: any.
 */
export function codesOf(search: Search, name: string, system: string): readonly string[] | undefined {
  const tokens = tokensOf(search, name)?.filter((it) => !it.system || it.system === system);
  if (tokens?.some((it) => it.system === system && it.value === '')) return undefined;
  return tokens?.map(({ value }) => value);
}

/** Whether tokens of `active` take what is active: https://hl7.org/fhir/R4/valueset-special-values.html */
export function takesActive(search: Search): boolean {
  return codesOf(search, 'active', 'http://terminology.hl7.org/CodeSystem/special-values')?.includes('true') ?? true;
}

function partsOf({ filters }: Search, name: string): readonly string[] | undefined {
  const sent = filters.get(name);
  if (!sent) return undefined;
  if (sent.length > 1) throw searchFault(name, `The query parameter ${name} can be sent once.`, 'not-supported');
  return valuesIn(name, sent[0] ?? '');
}

function valuesIn(name: string, sent: string): readonly string[] {
  const parts = [...new Set(splitAt(sent, ','))];
  if (parts.length > mostValues) throw tooManyValues(name);
  return parts;
}

/** Each is compared with each record that a search finds. */
const mostValues = 500;

function tooManyValues(name: string): Problem {
  const detail = `The query parameter ${name} has at most ${mostValues} values.`;
  return problemAt(inQuery(name), 'search_too_costly', detail);
}

/** More are not looked up one by one. */
const mostIds = 100;
const atOnce = 10;

/** @throws Problem `search_too_costly` for more than can be looked up one by one */
export function assertFew(parameter: string, names: readonly unknown[] = []): void {
  if (names.length <= mostIds) return;
  const detail = `The query parameter ${parameter} has at most ${mostIds} values.`;
  throw problemAt(inQuery(parameter), 'search_too_costly', detail);
}

/**
 * What many ids or numbers name, in their order, each once. What is not found is left out.
 *
 * @param find `undefined`: nothing has this name
 * @throws Problem `search_too_costly`
 */
export async function findEach<Name, Found>(
  parameter: string,
  names: readonly Name[],
  find: (name: Name) => Promise<Found | undefined>,
): Promise<Found[]> {
  const all = [...new Set(names)];
  assertFew(parameter, all);
  const found: (Found | undefined)[] = [];
  for (let next = 0; next < all.length; next += atOnce) {
    found.push(...(await Promise.all(all.slice(next, next + atOnce).map(find))));
  }
  return found.filter((it) => it !== undefined);
}

/** The identifier of a search as a native one. @throws Problem `request_invalid` */
export function requireSystem(token: Token, parameter: string): { readonly system: string; readonly value: string } {
  if (token.system && token.value) return { system: token.system, value: token.value };
  throw searchFault(parameter, `The query parameter ${parameter} must be system|value.`);
}

/** National numbers are in no URL, which proxies and browsers log. @throws Problem `request_invalid` */
export function assertNotInUrl(request: FastifyRequest, parameter: string): void {
  if (request.method !== 'GET' && (request.query as Record<string, unknown>)[parameter] === undefined) return;
  const detail = `Send ${parameter} in the body of a POST to _search: what identifies a person does not belong in a URL.`;
  throw problemAt(inQuery(parameter), 'request_invalid', detail);
}
