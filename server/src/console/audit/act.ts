import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import { inTransactionOrUnknown } from '../../db/transactions.ts';
import { Problem } from '../../problems/problem.ts';
import { includesRole, type Role } from '../accounts/roles.ts';
import { hashOfSession, type Session } from '../sign-in/sessions.ts';
import { type Activity, recordActivity } from './activity.ts';

/** The operator of the command line in the activity list. */
export const commandLine = 'command line';

/** The session of an action has ended, or its operator has lost the role, since the request began. Nothing was changed. */
export class SessionEnded extends Error {}

/** Why an action is not possible. Thrown in the work of `act`, so that nothing changes. */
export class NotPossible extends Error {
  /** `unknown`: what is acted on does not exist. */
  readonly reason: string;
  /** A sentence for the operator. */
  readonly detail: string;

  constructor(reason: string, detail = '') {
    super(reason);
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * Runs an action in a transaction that also records it. Returns why it is not possible, if it is not: nothing has changed
 * then, and that is recorded too, unless the form had a mistake. Two operators who act on each other can wait for each other,
 * so one is retried.
 *
 * @param by who acts. `undefined`: the command line
 * @throws {SessionEnded}
 * @throws errors that are not about the action, such as a database that does not respond
 */
export async function act<Result>(
  db: Db,
  by: Session | undefined,
  about: Pick<Activity, 'action' | 'target'>,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result | NotPossible> {
  try {
    return await inTransactionOrUnknown(db, async (tx) => {
      const result = await work(tx);
      await recordIn(tx, by, { ...about, outcome: 'done' });
      return result;
    });
  } catch (error) {
    const isProblem = error instanceof Problem && error.status < 500;
    if (!isProblem && !(error instanceof NotPossible)) throw error;
    const isMistake = isProblem && error.status === 400;
    // What does not exist may be personal data that was typed there.
    const target = error.reason === 'unknown' ? undefined : about.target;
    if (!isMistake) await record(db, by, { ...about, target, outcome: 'not_possible' });
    return isProblem ? new NotPossible(error.reason, error.detail) : error;
  }
}

/**
 * Records an action that changes nothing in the gateway's database. Call it before its result is shown.
 *
 * @throws {SessionEnded}
 */
export function record(db: Db, by: Session | undefined, activity: Omit<Activity, 'operator'>): Promise<void> {
  return inTransactionOrUnknown(db, (tx) => recordIn(tx, by, activity));
}

/** Somebody whose sessions are ended must not act with a request that is on its way. */
async function recordIn(tx: Tx, by: Session | undefined, activity: Omit<Activity, 'operator'>): Promise<void> {
  if (by && !(await isStillOpen(tx, by))) throw new SessionEnded();
  await recordActivity(tx, { ...activity, operator: by?.name ?? commandLine });
}

/** Locks the session, so that its end waits for the action. */
async function isStillOpen(tx: Tx, { token, role }: Session): Promise<boolean> {
  const { rows } = await sql<{ role: Role }>`
    SELECT coalesce((SELECT role FROM operators WHERE operators.id = session.operator_id), role) AS role
    FROM operator_sessions AS session WHERE token_hash = ${hashOfSession(token)} FOR KEY SHARE OF session`.execute(tx);
  return rows.some((it) => includesRole(it.role, role));
}
