import { createHash } from 'node:crypto';

const maxCandidates = 1_000;

/**
 * Names statements from their second use on, so that connections prepare them. The name depends only on the text, so
 * that gateways behind one pooler agree. At most `limit` texts get a name, because each prepared statement uses server
 * memory on every connection.
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
