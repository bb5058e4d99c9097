import { chunks } from '../chunks.ts';
import type { FhirClient } from '../client.ts';
import type { FhirResource } from '../fhir.ts';
import { isOutcome, rejection } from '../outcome.ts';
import { isResource, parse } from './body.ts';
import { assertAreWanted, assertIsRead } from './right-answer.ts';
import type { Send } from './send.ts';

/** Reads resources by their references: https://hl7.org/fhir/R4/http.html#read */
export function reader(send: Send, base: string, search: FhirClient['search']): Pick<FhirClient, 'read' | 'readMany'> {
  async function read<R extends FhirResource>(reference: string): Promise<R | null> {
    const call = { method: 'GET', url: `${base}/${reference}`, repeatable: true } as const;
    const response = await send({ ...call, headers: { 'cache-control': 'no-cache' } });
    if (response.status === 404 || response.status === 410) return null;
    const body = parse(response.text);
    if (response.status >= 300 || isOutcome(body) || !isResource(body)) throw rejection(response, body);
    assertIsRead(body, reference);
    return body as R;
  }

  async function readMany<R extends FhirResource>(references: readonly string[]): Promise<R[]> {
    const byType = Map.groupBy(new Set(references), (reference) => reference.slice(0, reference.indexOf('/')));
    const reads = [...byType].flatMap(([type, ofType]) => {
      if (ofType.length === 1) return ofType.map(async (reference) => [await read<R>(reference)]);
      const ids = ofType.map((reference) => reference.slice(type.length + 1));
      return chunks(ids, 50).map(async (chunk) => {
        const found = await search<R>(type, byIds(chunk), { few: true });
        assertAreWanted(type, chunk, found);
        return found;
      });
    });
    return (await Promise.all(reads)).flat().filter((it) => it !== null);
  }

  return { read, readMany };
}

/** The parameters of a search for resources with these ids. */
function byIds(ids: readonly string[]) {
  return [
    ['_id', ids.join(',')],
    ['_count', String(ids.length)],
  ] as const;
}
