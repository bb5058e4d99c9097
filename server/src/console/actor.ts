import { sql } from 'kysely';
import { inOneTransaction } from '../db/in-one-transaction.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { type Action, recordActivity } from './activity.ts';
import { includesRole, type Role } from './roles.ts';
import { hashOfSession, type Session } from './sessions.ts';

/** The operator of the command line in the activity list. */
export const commandLine = 'command line';

/** The session of an action has ended, or its operator has lost the role, since the request began. Nothing was changed. */
export class SessionEnded extends Error {}

interface Done {
  readonly action: Action;
  readonly target?: string | undefined;
}

/**
 * Records an action, if the session still allows it: see `requireOpen`.
 *
 * @param by `undefined`: the command line
 * @throws {SessionEnded}
 */
export async function recordBy(tx: Tx, by: Session | undefined, done: Done): Promise<void> {
  if (by) await requireOpen(tx, by);
  await recordActivity(tx, { ...done, operator: by?.name ?? commandLine, outcome: 'done' });
}

/**
 * Call it in the transaction of an action: somebody whose sessions are ended must not create an account or a client with a
 * request that is on its way. Locks the session, so that its end waits for the action.
 *
 * @throws {SessionEnded}
 */
export async function requireOpen(tx: Tx, { token, role }: Session): Promise<void> {
  const { rows } = await sql<{ role: Role }>`
    SELECT coalesce((SELECT role FROM operators WHERE operators.id = session.operator_id), role) AS role
    FROM operator_sessions AS session WHERE token_hash = ${hashOfSession(token)} FOR KEY SHARE OF session`.execute(tx);
  if (!rows.some((it) => includesRole(it.role, role))) throw new SessionEnded();
}

/** Runs a transaction on operators. Two of them who act on each other can wait for each other, so one is retried. */
export function actOnOperators<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return inOneTransaction(db, work);
}
