import type { FastifyRequest } from 'fastify';

type Fingerprinted = Pick<FastifyRequest, 'method' | 'raw' | 'body' | 'params' | 'query' | 'headers'>;

/**
 * What identifies the content of a request: method, URL, body, and the values of referenced headers. The first one does not
 * depend on the order of members in the body, which has no meaning in JSON (RFC 8259, section 4).
 *
 * The second one, if it differs, does: version 0.1.0 stored it under a key, and a retry may come after the upgrade.
 */
export function fingerprintsOf(request: Fingerprinted): readonly [string, ...string[]] {
  const asSent = fingerprint(request, request.body);
  const sorted = fingerprint(request, withSortedMembers(request.body));
  return sorted === asSent ? [sorted] : [sorted, asSent];
}

function fingerprint({ method, raw, params, query, headers }: Fingerprinted, body: unknown): string {
  const referenced: (readonly string[] | null)[] = [];
  JSON.stringify([params, query, body], (_name, value) => {
    if (typeof value === 'string' && value.startsWith('header:'))
      referenced.push(raw.headersDistinct[value.slice('header:'.length).toLowerCase()] ?? null);
    return value;
  });
  return JSON.stringify([method, raw.url, body ?? null, referenced, headers['x-service-standard'] ?? null]);
}

/** The same value, with the members of each object by name. Elements of lists keep their order. */
function withSortedMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedMembers);
  // `fromEntries` makes a member of the name `__proto__` too, where an assignment would not.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, it]) => [name, withSortedMembers(it)]));
}
