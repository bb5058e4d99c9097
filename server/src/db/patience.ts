import { AsyncLocalStorage } from 'node:async_hooks';

/** Milliseconds that a request may wait for the database, all its statements together. */
const ofRequest = 30_000;
/** Milliseconds that each statement gets at least, so that the rest of a request can be noted, such as its audit entry. */
const least = 2_000;

/** How long a request may still wait for the database. */
export interface DatabasePatience {
  milliseconds: number;
}

const scope = new AsyncLocalStorage<DatabasePatience | undefined>();

export function newPatience(): DatabasePatience {
  return { milliseconds: ofRequest };
}

/** Runs `work`. What its statements take is taken off `patience`. */
export function withPatience<Result>(patience: DatabasePatience, work: () => Result): Result {
  return scope.run(patience, work);
}

/** Runs `work` so that each of its statements takes at most two seconds. */
export function impatiently<Result>(work: () => Result): Result {
  return withPatience({ milliseconds: 0 }, work);
}

/** Milliseconds that a statement may take. `undefined` outside `withPatience`. */
export function patienceLeft(): number | undefined {
  const patience = scope.getStore();
  return patience && Math.max(least, patience.milliseconds);
}

/** @param since by `performance.now()` */
export function spendPatience(since: number): void {
  const patience = scope.getStore();
  if (patience) patience.milliseconds -= performance.now() - since;
}
