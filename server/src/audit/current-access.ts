import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditedAccess } from './access.ts';

/** What the running work is: a request, an action on the page for patients, or a background job. */
export interface CurrentAccess {
  /**
   * The access as it ends now.
   *
   * @param body of the response. Absent: there is none
   */
  describe(outcome: string, body?: object): AuditedAccess;
  /** The operation that the work has begun. */
  operationId?: string;
  /** The outcome of the last entry whose transaction has committed. */
  recorded?: string;
}

const scope = new AsyncLocalStorage<CurrentAccess>();

/** Runs `work` so that the statement which ends an operation leaves the entry of this access. */
export function asAccess<Result>(access: CurrentAccess, work: () => Result): Result {
  return scope.run(access, work);
}

/** `undefined`: the work leaves no entry. */
export function currentAccess(): CurrentAccess | undefined {
  return scope.getStore();
}

/** Notes which operation the running work has begun, also for an entry that says that its outcome is unknown. */
export function beganOperation(operationId: string): void {
  const access = scope.getStore();
  if (access) access.operationId = operationId;
}
