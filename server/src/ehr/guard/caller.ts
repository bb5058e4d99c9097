import { AsyncLocalStorage } from 'node:async_hooks';

/** The owner of a call to an EHR in the fair queue: the client id, or `undefined` for background jobs. */
export type Caller = string | undefined;

const scope = new AsyncLocalStorage<string>();

/** Runs `work`. All EHR calls in it count for this client. */
export function asClient<Result>(clientId: string, work: () => Result): Result {
  return scope.run(clientId, work);
}

export function currentCaller(): Caller {
  return scope.getStore();
}
