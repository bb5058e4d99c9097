/**
 * Runs work while no other call with the same key runs, in no gateway that shares the database. Rejects with `unavailable` before
 * the work begins if the turn does not come.
 *
 * A process that stands still, or is cut off from the database, loses its turn. Then no write that `run` sends with the
 * `EhrHttp` of the context begins: it fails with `unavailable`. The turn outlasts each write that has begun. So read what the
 * write depends on, and write, in `run`; look at what was written (`standsAlone` in `@crossward/connector-kit/rest`), and take back
 * what must not stand, afterwards.
 *
 * @param key of this EHR, such as `resource 12`. It is stored, so it names no patient
 */
export type InTurn = <Result>(key: string, run: () => Promise<Result>) => Promise<Result>;

/** Turns of this process alone, for an EHR that one process writes to, and for tests. */
export function turnsInProcess(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (key, run) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(run);
    const ended = turn
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
    last.set(key, ended);
    return turn;
  };
}

/** Runs work in the turns of several keys. They are taken in one order, so that no two wait for each other. */
export function inTurns<Result>(inTurn: InTurn, keys: readonly string[], run: () => Promise<Result>): Promise<Result> {
  const [first, ...rest] = [...new Set(keys)].sort();
  return first === undefined ? run() : inTurn(first, () => inTurns(inTurn, rest, run));
}
