/**
 * The known word closest to a misspelled one: at most two edits away, or a third of the length of a long word. Otherwise the
 * one with the same parts in another order, as `read:notes`, or the only one that begins with it, or with its first part, as
 * `webhooks:read`.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest && edits < candidate.length) {
      best = candidate;
      fewest = edits;
    }
  }
  if (best !== undefined || word.length < 3) return best;
  const parts = word.toLowerCase().split(':');
  const swapped = [...known].find((it) => isReordered(it.toLowerCase().split(':'), parts));
  const [longer, ...others] = [...known].filter((it) => it.toLowerCase().startsWith(parts[0] ?? ''));
  return swapped ?? (others.length === 0 ? longer : undefined);
}

function isReordered(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join(':') === others.toSorted().join(':');
}

/** Number of insertions, deletions, replacements and swaps between two words (optimal string alignment). */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
