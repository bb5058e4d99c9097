import type { CareUnit } from '../records.ts';

const keptMilliseconds = 60_000;
/** A list that lacks something is not read anew before: whoever asks for what does not exist causes no load. */
const freshMilliseconds = 5_000;

/** Lists of a care unit that seldom change, such as its resources and services. */
export interface KeptLists<Lists> {
  /** Read in the last minute. */
  of(careUnit: CareUnit): Promise<Lists>;
  /** What `pick` finds, in lists that are read anew if it finds nothing in those that are kept. */
  find<Value>(careUnit: CareUnit, pick: (lists: Lists) => Value | undefined): Promise<Value | undefined>;
}

/** Callers at the same time share one reading. One that fails is not kept. */
export function keptLists<Lists>(read: (careUnit: CareUnit) => Promise<Lists>): KeptLists<Lists> {
  const kept = new Map<string, { readonly at: number; readonly lists: Promise<Lists> }>();

  function readingOf(careUnit: CareUnit, oldestMilliseconds: number): Promise<Lists> {
    const known = kept.get(careUnit.id);
    if (known && performance.now() - known.at < oldestMilliseconds) return known.lists;
    const entry = { at: performance.now(), lists: read(careUnit) };
    kept.set(careUnit.id, entry);
    entry.lists.catch(() => {
      if (kept.get(careUnit.id) === entry) kept.delete(careUnit.id);
    });
    return entry.lists;
  }

  return {
    of: (careUnit) => readingOf(careUnit, keptMilliseconds),
    find: async (careUnit, pick) =>
      pick(await readingOf(careUnit, keptMilliseconds)) ?? pick(await readingOf(careUnit, freshMilliseconds)),
  };
}
