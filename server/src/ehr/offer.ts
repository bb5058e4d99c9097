import { connectionFindings, type EmrCheck } from './check-connection.ts';

/** What an EHR offers, as a check saw it: words by subject, such as the search parameters of `Slot`. */
export type Offer = Readonly<Record<string, readonly string[]>>;

/** What became another between two checks. */
export interface OfferChange {
  readonly subject: string;
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

const longestWord = 100;

/**
 * What a check saw, without what depends on the records that there are at the moment, such as free slots. `undefined`: the
 * connection could not be opened, which says nothing about what the EHR offers.
 */
export function offerOf(check: EmrCheck): Offer | undefined {
  const { probe, claims } = check;
  if (!claims) return undefined;
  const problems = connectionFindings(check).flatMap(({ name, status }) => (status === 'problem' ? [name] : []));
  const described = { ...probe?.described, ...wordsOf(claims), problems };
  return Object.fromEntries(
    Object.entries(described).map(([subject, words]) => [
      subject.slice(0, longestWord),
      [...new Set(words.map((word) => word.slice(0, longestWord)))].sort(),
    ]),
  );
}

function wordsOf(claims: NonNullable<EmrCheck['claims']>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(claims).map(([subject, value]) => [
      subject,
      (Array.isArray(value) ? value : [value]).map((it) => (typeof it === 'string' ? it : JSON.stringify(it))),
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
