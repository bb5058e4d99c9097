import type { FastifyRequest } from 'fastify';
import { baseOf } from '../face.ts';
import type { Search } from './input.ts';

/** Where a search is made, and what its links repeat. */
export function placeOf(
  request: FastifyRequest,
  type: string,
  { filters, includes, sort }: Search,
  /** Parameters that were given another value, such as a default. */
  changed: Readonly<Record<string, readonly string[]>> = {},
) {
  const base = baseOf(request);
  const shown = new Map([...filters, ...Object.entries(changed)]);
  const self = [...shown].flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const results = [
    ...includes.map((it) => ['_include', it] as const),
    ...(sort === undefined ? [] : [['_sort', sort] as const]),
  ];
  return { base, url: `${base}/${type}`, self: [...self, ...results] };
}
