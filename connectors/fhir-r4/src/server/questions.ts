import type { SearchOptions, SearchParameters } from './client.ts';
import { type Habits, lists } from './habits.ts';
import { isRefusedQuestion } from './outcome.ts';

/** Parameters that change how an answer looks, and not what is in it. A server may refuse them. */
const optional: ReadonlySet<string> = new Set(['_include', '_revinclude', '_count', '_elements']);

/** How the answers are sorted: as asked and then by `_id`, as asked, or not at all. */
const sortings = ['by id', 'as asked', 'not at all'] as const;
type Sorting = (typeof sortings)[number];

/** What a type of resource is asked with. */
interface Form {
  readonly sorting: Sorting;
  readonly without: ReadonlySet<string>;
}

export type Ask = ReturnType<typeof questions>;

/**
 * Asks a server in the form that it accepts: without a parameter that it refuses, of those that can be left out. The form
 * is found once for each type of resource, after the first refusal.
 */
export function questions(habits: Habits) {
  const forms = new Map<string, Form>();
  /** Questions that the server refuses in every form. */
  const hopeless = new Set<string>();

  return async function ask<Answer>(
    type: string,
    parameters: SearchParameters,
    {
      droppable = [],
      isForOne = false,
    }: Pick<SearchOptions, 'droppable'> & { readonly isForOne?: boolean | undefined },
    send: (parameters: SearchParameters) => Promise<Answer>,
  ): Promise<Answer> {
    const mayGo = (name: string) => optional.has(name) || droppable.includes(name);
    const unlisted = parameters
      .map(([name]) => name)
      .filter((name) => droppable.includes(name) && lists(habits, type, name) === false);
    const known = forms.get(type) ?? { sorting: 'by id', without: new Set() };
    const form = { ...known, without: new Set([...known.without, ...unlisted]) };
    const first = inForm(parameters, form);
    try {
      return await send(first);
    } catch (error) {
      const names = first.map(([name]) => name);
      const question = [type, ...first.map(([name, value]) => name + prefixOf(value))].join(' ');
      if (!isRefusedQuestion(error) || hopeless.has(question)) throw error;
      const left = [...new Set(names.filter(mayGo))];
      for (const other of otherForms(form, left, parameters)) {
        try {
          const answer = await send(inForm(parameters, other));
          forms.set(type, other);
          habits.note(`searches for ${type}`, inWords(other));
          return answer;
        } catch (again) {
          if (!isRefusedQuestion(again)) throw again;
        }
      }
      // What is refused for one patient may be accepted for another.
      if (!isForOne) hopeless.add(question);
      throw error;
    }
  };
}

/** Of a bound, which a server may refuse: https://hl7.org/fhir/R4/search.html#prefix */
function prefixOf(value: string): string {
  return /^[a-z]{2}(?=\d)/.exec(value)?.[0] ?? '';
}

/** Those that leave out least come first. */
function* otherForms(form: Form, left: readonly string[], parameters: SearchParameters): Generator<Form> {
  const sorts = parameters.some(([name]) => name === '_sort');
  const fixed = isFixed(parameters);
  const possible = sortings
    .slice(sortings.indexOf(form.sorting))
    .filter((it) => (it !== 'as asked' || sorts) && (!fixed || it === form.sorting));
  const subsets = Array.from({ length: 2 ** left.length }, (_, bits) => left.filter((_, at) => bits & (1 << at)));
  for (const some of subsets.toSorted((a, b) => a.length - b.length)) {
    for (const sorting of possible) {
      if (some.length === 0 && sorting === form.sorting) continue;
      yield { sorting, without: new Set([...form.without, ...some]) };
    }
  }
}

function inForm(parameters: SearchParameters, { sorting, without }: Form): SearchParameters {
  const kept = parameters.filter(([name]) => !without.has(name));
  if (sorting === 'by id') return inOneOrder(kept);
  return sorting === 'as asked' ? kept : kept.filter(([name]) => name !== '_sort');
}

/** A search by id or identifier has no second page. */
function isFixed(parameters: SearchParameters): boolean {
  return parameters.some(([name]) => name === '_id' || name === 'identifier');
}

/**
 * Sorts by `_id` last. Otherwise a server that pages by offset, such as Medplum, may repeat some of several equal
 * resources and miss others.
 */
function inOneOrder(parameters: SearchParameters): SearchParameters {
  if (isFixed(parameters)) return parameters;
  const sort = parameters.find(([name]) => name === '_sort')?.[1];
  const others = parameters.filter(([name]) => name !== '_sort');
  return [...others, ['_sort', sort === undefined ? '_id' : `${sort},_id`]];
}

function inWords({ sorting, without }: Form): string {
  const left = [...(sorting === 'not at all' ? ['_sort'] : sorting === 'as asked' ? ['_sort by _id'] : []), ...without];
  return `without ${left.join(' and ')}`;
}
