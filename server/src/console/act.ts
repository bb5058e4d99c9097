import { inOneTransaction } from '../db/in-one-transaction.ts';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import { type Action, recordActivity } from './activity.ts';
import { recordBy } from './actor.ts';
import type { SignedIn } from './page.ts';

interface Named {
  readonly action: Action;
  /** The id of what is acted on. */
  readonly target?: string | undefined;
}

/** Why an action is not possible. Thrown in the work of `act`, so that nothing changes. */
export class NotPossible extends Error {
  readonly reason: string;
  /** A sentence for the operator. */
  readonly detail: string;

  constructor(reason: string, detail: string) {
    super(reason);
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * Runs an action in a transaction that also records it. Returns why it is not possible, if it is not: nothing has changed
 * then, and that is recorded too, unless the form had a mistake.
 *
 * @throws {SessionEnded} see `recordBy`
 * @throws errors that are not about the action, such as a database that does not respond
 */
export async function act<Result>(
  { deps, session }: SignedIn,
  { action, target }: Named,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result | NotPossible> {
  const { db } = deps.services;
  const activity = { operator: session.name, action, target } as const;
  try {
    return await inOneTransaction(db, async (tx) => {
      const result = await work(tx);
      await recordBy(tx, session, { action, target });
      return result;
    });
  } catch (error) {
    const isProblem = error instanceof Problem && error.status < 500;
    if (!isProblem && !(error instanceof NotPossible)) throw error;
    const isMistake = isProblem && error.status === 400;
    if (!isMistake) await recordActivity(db, { ...activity, outcome: 'not_possible' });
    return isProblem ? new NotPossible(error.reason, error.detail) : error;
  }
}
