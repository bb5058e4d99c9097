import type { FastifyRequest } from 'fastify';
import { isReferable, type ReadHeader } from '../identifiers/index.ts';

/** Reads the headers of a request that may hold identifiers. Collects them at the first use, because few requests refer to one. */
export function headerReader({ raw }: FastifyRequest, allowed: ReadonlySet<string>): ReadHeader {
  let sent: ReadonlyMap<string, readonly string[] | undefined> | undefined;
  return (name) => {
    if (!isReferable(name, allowed)) return undefined;
    sent ??= new Map(Object.entries(raw.headersDistinct));
    return sent.get(name) ?? [];
  };
}
