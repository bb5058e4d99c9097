import { AsyncLocalStorage } from 'node:async_hooks';
import type { User } from '@crossward/connector-kit';

/** The owner of a call to an EHR in the fair queue: the client id, or `undefined` for background jobs. */
export type Caller = string | undefined;

const scope = new AsyncLocalStorage<{ readonly clientId: string; readonly user: User | undefined }>();

/**
 * Runs `work`. All EHR calls in it count for this client.
 *
 * @param user the person for whom the client makes them, if it names one
 */
export function asClient<Result>(clientId: string, work: () => Result, user?: User): Result {
  return scope.run({ clientId, user }, work);
}

export function currentCaller(): Caller {
  return scope.getStore()?.clientId;
}

export function currentUser(): User | undefined {
  return scope.getStore()?.user;
}
