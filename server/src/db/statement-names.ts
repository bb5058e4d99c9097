import { createHash } from 'node:crypto';

const maxCandidates = 1_000;

/**
 * Gives texts of statements the names under which each connection prepares them, from their second use on: a text that
 * comes once is not worth it. The name comes from the text alone, so that gateways behind one pooler agree. Only `limit` texts
 * get one, since each costs the server memory for each connection.
 */
export function statementNames(limit = 200): (text: string) => string | undefined {
  const names = new Map<string, string>();
  const candidates = new Set<string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= limit) return known;
    if (!candidates.delete(text)) {
      if (candidates.size >= maxCandidates) candidates.clear();
      candidates.add(text);
      return undefined;
    }
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    names.set(text, name);
    return name;
  };
}
