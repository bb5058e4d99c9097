import { AsyncLocalStorage } from 'node:async_hooks';

type Check = () => Promise<void>;

const scope = new AsyncLocalStorage<Check>();

/** Runs `work`. Its calls to an EHR run `check` when their turn has come, and are not made if it throws. */
export function withLastCheck<Result>(check: Check, work: () => Result): Result {
  return scope.run(check, work);
}

/** `undefined` outside `withLastCheck`. */
export function currentLastCheck(): Check | undefined {
  return scope.getStore();
}
