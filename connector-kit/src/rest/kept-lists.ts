const keptMilliseconds = 60_000;
/** A list that lacks something is not read anew before: whoever asks for what does not exist causes no load. */
const freshMilliseconds = 5_000;

/** Lists that seldom change, such as the resources and services of a care unit. */
export interface KeptLists<Lists> {
  /** Read in the last minute. */
  get(): Promise<Lists>;
  /** What `pick` finds, in lists that are read anew if it finds nothing in those that are kept. */
  find<Value>(pick: (lists: Lists) => Value | undefined): Promise<Value | undefined>;
}

/** Callers at the same time share one reading. One that fails is not kept. */
export function keptLists<Lists>(read: () => Promise<Lists>): KeptLists<Lists> {
  let kept: { readonly at: number; readonly lists: Promise<Lists> } | undefined;

  function notOlderThan(milliseconds: number): Promise<Lists> {
    if (kept && performance.now() - kept.at < milliseconds) return kept.lists;
    const entry = { at: performance.now(), lists: read() };
    kept = entry;
    entry.lists.catch(() => {
      if (kept === entry) kept = undefined;
    });
    return entry.lists;
  }

  return {
    get: () => notOlderThan(keptMilliseconds),
    find: async (pick) => pick(await notOlderThan(keptMilliseconds)) ?? pick(await notOlderThan(freshMilliseconds)),
  };
}
