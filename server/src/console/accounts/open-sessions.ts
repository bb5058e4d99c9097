import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import { act, NotPossible } from '../audit/act.ts';
import { hashOfSession, isOpen, type Session, type SessionSettings } from '../sign-in/sessions.ts';

/** A session as it is listed. */
export interface OpenSession {
  /** Such as `kari.nordmann`, or `oidc:kari` of an operator by OpenID Connect. */
  readonly name: string;
  readonly hasAccount: boolean;
  readonly role: string;
  readonly startedAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

interface OwnSession extends OpenSession {
  readonly isThis: boolean;
}

/**
 * The open sessions, by name, the latest first. Without settings, also those that are idle for too long, or whose way to sign
 * in is turned off.
 */
export async function listSessions(db: Db, settings?: SessionSettings): Promise<OpenSession[]> {
  const { rows } = await sql<OpenSession>`
    SELECT ${columns} FROM operator_sessions AS session
    WHERE ${settings ? isOpen(settings) : sql`expires_at > clock_timestamp()`} ORDER BY name, created_at DESC`.execute(
    db,
  );
  return rows;
}

/** The open sessions of the operator of this one, the latest first. */
export async function listOwnSessions(db: Db, session: Session, settings: SessionSettings): Promise<OwnSession[]> {
  const { rows } = await sql<OwnSession>`
    SELECT ${columns}, token_hash = ${hashOfSession(session.token)} AS "isThis" FROM operator_sessions AS session
    WHERE ${isOpen(settings)} AND ${ofSameOperator(session)} ORDER BY created_at DESC`.execute(db);
  return rows;
}

const columns = sql`name, operator_id IS NOT NULL AS "hasAccount",
  coalesce((SELECT role FROM operators WHERE operators.id = session.operator_id), role) AS role,
  created_at AS "startedAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt"`;

/** By the account or the subject: another operator of a provider can have the same name. */
function ofSameOperator({ token, operatorId, subjectHash }: Session) {
  return sql`(token_hash = ${hashOfSession(token)} OR operator_id = ${operatorId} OR subject_hash = ${subjectHash})`;
}

/** Ends all sessions of the operator of this one, itself too. Returns whether it had not been ended before. */
export async function endOwnSessions(tx: Tx, session: Session): Promise<boolean> {
  const { rows } = await sql<{ isThis: boolean }>`
    DELETE FROM operator_sessions AS session WHERE ${ofSameOperator(session)}
    RETURNING token_hash = ${hashOfSession(session.token)} AS "isThis"`.execute(tx);
  return rows.some(({ isThis }) => isThis);
}

/** Waits for a sign-in and for a change of secrets that are about to start a session of an account, so that it ends too. */
export async function lockAccount(tx: Tx, name: string): Promise<void> {
  await tx.selectFrom('operators').select('id').where('name', '=', name).forUpdate().execute();
}

interface Target {
  readonly name: string;
  /** Default: the command line. */
  readonly by?: Session;
}

/**
 * Ends the sessions of the operators with this name: no account has the name of an operator by OpenID Connect. Returns how
 * many have ended, or `undefined` if nobody has this name.
 *
 * @throws {SessionEnded}
 */
export async function endSessionsOf(db: Db, { name, by }: Target): Promise<number | undefined> {
  const result = await act(db, by, { action: 'sessions_end', target: name }, async (tx) => {
    await lockAccount(tx, name);
    const { rows } = await sql<{ ended: number; isKnown: boolean }>`
      WITH ended AS (DELETE FROM operator_sessions WHERE name = ${name} RETURNING expires_at > clock_timestamp() AS was_open)
      SELECT count(*) FILTER (WHERE was_open)::int AS ended,
        count(*) > 0 OR EXISTS (SELECT FROM operators WHERE name = ${name}) AS "isKnown" FROM ended`.execute(tx);
    const [{ ended, isKnown } = { ended: 0, isKnown: false }] = rows;
    if (!isKnown) throw new NotPossible('unknown');
    return ended;
  });
  return result instanceof NotPossible ? undefined : result;
}
