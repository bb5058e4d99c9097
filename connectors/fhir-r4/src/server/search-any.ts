import type { FhirResource } from '../fhir.ts';
import type { FhirClient, SearchOptions, SearchParameters } from './client.ts';
import { isRejection } from './outcome.ts';

/** Searches for resources that have any of several values: https://hl7.org/fhir/R4/search.html#combining */
export type SearchAny = <R extends FhirResource>(search: AnySearch) => Promise<R[]>;

interface AnySearch {
  readonly type: string;
  readonly parameter: string;
  /** Escaped values, in groups that servers often take together. The value that the EHR has most likely is in the first group. */
  readonly groups: readonly (readonly string[])[];
  readonly others?: SearchParameters;
  readonly options: SearchOptions;
}

/**
 * Sends all values in one search. A server that rejects that is asked for one group at a time, and one that rejects that too for
 * one value at a time, from then on. It may then reject values that it never stores, all but the first.
 *
 * @param takesLists false: it finds nothing by a list, and has to be asked for one value at a time
 */
export function searchAny(client: Pick<FhirClient, 'search'>, takesLists = true): SearchAny {
  let way = takesLists ? 0 : 2;
  return async <R extends FhirResource>({ type, parameter, groups, others = [], options }: AnySearch) => {
    const values = groups.flat();
    const ways = [[values], groups, values.map((it) => [it])];
    const search = (list: readonly string[]) => client.search<R>(type, [[parameter, list.join()], ...others], options);
    for (let tried = values.length === 1 ? 0 : way; ; tried++) {
      const [first = [], ...further] = ways[tried] ?? [];
      try {
        const found = [
          await search(first),
          ...(await Promise.all(further.map((it) => search(it).catch(noneIfRejected)))),
        ];
        if (values.length > 1) way = tried;
        return [...new Map(found.flat().map((it) => [it.id, it])).values()];
      } catch (error) {
        if (!isRejection(error) || tried + 1 >= ways.length || values.length === 1) throw error;
      }
    }
  };
}

/** For a search that may be refused. */
export function noneIfRejected(error: unknown): [] {
  if (isRejection(error)) return [];
  throw error;
}
