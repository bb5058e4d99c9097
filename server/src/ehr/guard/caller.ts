import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose turns a call to an EHR takes: the id of the client, or `undefined` for what the gateway does by itself. */
export type Caller = string | undefined;

const scope = new AsyncLocalStorage<string>();

/** Whatever `work` asks an EHR for is asked for this client. */
export function asClient<Result>(clientId: string, work: () => Result): Result {
  return scope.run(clientId, work);
}

export function currentCaller(): Caller {
  return scope.getStore();
}
