import type { FhirResource } from '../fhir.ts';
import { chunks } from './chunks.ts';
import type { FhirClient } from './client.ts';
import type { Habits } from './habits.ts';
import { isResource, parse } from './messages.ts';
import { isAbsent, isOutcome, isRejection, rejection } from './outcome.ts';
import type { Receiver } from './received/receive.ts';
import { assertAreWanted, assertIsRead } from './right-answer.ts';
import type { Send } from './send.ts';

interface Reading {
  readonly base: string;
  readonly search: FhirClient['search'];
  readonly habits: Habits;
  readonly receiver: Receiver;
}

/** Reads resources by their references: https://hl7.org/fhir/R4/http.html#read */
export function reader(
  send: Send,
  { base, search, habits, receiver }: Reading,
): Pick<FhirClient, 'read' | 'readMany' | 'readAllowed'> {
  /** Where the server has no read, by a search: https://hl7.org/fhir/R4/search.html#_id */
  function read<R extends FhirResource>(reference: string): Promise<R | null> {
    const [type = '', id = ''] = reference.split('/');
    if (!habits.statement?.lacksRead(type)) return readOne<R>(reference);
    return habits.firstAccepted(`reads of ${type}`, [
      { name: 'by _id', ask: async () => (await searchByIds<R>(type, [id]))[0] ?? null },
      { name: 'are made, although they are not listed', ask: () => readOne<R>(reference) },
    ]);
  }

  async function readOne<R extends FhirResource>(reference: string): Promise<R | null> {
    const call = { method: 'GET', url: `${base}/${reference}`, repeatable: true } as const;
    const response = await send({ ...call, headers: { 'cache-control': 'no-cache' } });
    const parsed = parse(response.text);
    const body = response.status >= 300 ? receiver.attempt(parsed) : receiver.receive(parsed);
    if (isAbsent(response, body)) return null;
    if (response.status >= 300 || isOutcome(body) || !isResource(body)) throw rejection(response, body);
    assertIsRead(body, reference);
    return body as R;
  }

  async function searchByIds<R extends FhirResource>(type: string, ids: readonly string[]): Promise<(R | null)[]> {
    const found = await search<R>(type, byIds(ids), { few: true, strict: true });
    assertAreWanted(type, ids, found);
    return found;
  }

  /** One by one if the server refuses the list. */
  async function readList<R extends FhirResource>(type: string, ids: readonly string[]): Promise<(R | null)[]> {
    const oneByOne = () => Promise.all(ids.map((id) => read<R>(`${type}/${id}`)));
    return habits.firstAccepted(`lists of ${type} by _id`, [
      { name: 'one by one', ask: () => searchByIds<R>(type, ids) },
      { name: 'are read one by one', ask: oneByOne },
    ]);
  }

  function inChunks<R>(
    references: readonly string[],
    each: (type: string, ids: readonly string[]) => Promise<readonly (R | null)[]>,
  ): Promise<R[]> {
    const byType = Map.groupBy(new Set(references), (reference) => reference.slice(0, reference.indexOf('/')));
    const reads = [...byType].flatMap(([type, ofType]) => {
      const ids = ofType.map((reference) => reference.slice(type.length + 1));
      return chunks(ids, 50).map((chunk) => each(type, chunk));
    });
    return Promise.all(reads).then((found) => found.flat().filter((it) => it !== null));
  }

  async function readSome<R extends FhirResource>(type: string, ids: readonly string[]): Promise<(R | null)[]> {
    const [only = ''] = ids;
    return ids.length === 1 ? [await read<R>(`${type}/${only}`)] : readList<R>(type, ids);
  }

  async function readAllowedSome<R extends FhirResource>(type: string, ids: readonly string[]): Promise<(R | null)[]> {
    try {
      return await readSome<R>(type, ids);
    } catch (error) {
      if (!isRejection(error)) throw error;
      return Promise.all(
        ids.map((id) =>
          read<R>(`${type}/${id}`).catch((again: unknown) => {
            if (!isRejection(again)) throw again;
            // The record as a whole: the server does not let the client read it, or it cannot be read.
            receiver.leftOut({ type, id, path: '' });
            return null;
          }),
        ),
      );
    }
  }

  return {
    read,
    readMany: <R extends FhirResource>(references: readonly string[]) => inChunks(references, readSome<R>),
    readAllowed: <R extends FhirResource>(references: readonly string[]) => inChunks(references, readAllowedSome<R>),
  };
}

/** The parameters of a search for resources with these ids. */
function byIds(ids: readonly string[]) {
  return [
    ['_id', ids.join(',')],
    ['_count', String(ids.length)],
  ] as const;
}
