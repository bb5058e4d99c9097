import { operations, type ServerDescription } from '@crossward/connector-kit';
import type { EhrConnection } from './connection.ts';

/** What an EHR offers: words by subject, such as the search parameters of `Slot`. */
export type Offer = Readonly<Record<string, readonly string[]>>;

/** What became another between two checks. */
export interface OfferChange {
  readonly subject: string;
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

const longestWord = 100;

/** What the server says of itself, and what the connection claims. */
export function offerOf(described: ServerDescription, ehr: Pick<EhrConnection, 'capabilities' | 'offers'>): Offer {
  const claims = { ...ehr.capabilities, operations: operations.filter((it) => ehr.offers(it)) };
  return Object.fromEntries(
    Object.entries({ ...described, ...wordsOf(claims) }).map(([subject, words]) => [
      subject.slice(0, longestWord),
      [...new Set(words.map((word) => word.slice(0, longestWord)))].sort(),
    ]),
  );
}

function wordsOf(claims: object): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(claims).map(([subject, value]) => [
      subject,
      (Array.isArray(value) ? value : [value]).map((it) => (typeof it === 'string' ? it : JSON.stringify(it) || '')),
    ]),
  );
}

/** In the order of the subjects. */
export function offerChanges(before: Offer, after: Offer): readonly OfferChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((subject) => {
    const [former, now] = [before[subject] ?? [], after[subject] ?? []];
    const gone = former.filter((word) => !now.includes(word));
    const added = now.filter((word) => !former.includes(word));
    return gone.length + added.length > 0 ? [{ subject, gone, added }] : [];
  });
}
