import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsoleSettings } from '../config/console-settings.ts';
import type { Db } from '../db/kysely.ts';
import type { Role } from './roles.ts';

/** A signed-in operator. */
export interface Session {
  /** What the browser stores. The database has a hash of it. */
  readonly token: string;
  /** The account. `null`: signed in with OpenID Connect. */
  readonly operatorId: string | null;
  readonly name: string;
  readonly role: Role;
}

interface NewSession {
  /** `null`: signed in with OpenID Connect. */
  readonly operatorId: string | null;
  readonly name: string;
  readonly role: Role;
  readonly hours: number;
}

/** Starts a session with a new random token, so that nobody can prepare one for an operator. */
export async function startSession(db: Db, { operatorId, name, role, hours }: NewSession): Promise<Session> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('operator_sessions')
    .values({
      token_hash: hashOf(token),
      operator_id: operatorId,
      name,
      role,
      expires_at: sql<Date>`clock_timestamp() + make_interval(hours => ${hours})`,
    })
    .execute();
  return { token, operatorId, name, role };
}

/**
 * Finds a session that has not expired, and notes that it is used. An account's role may have changed since the sign-in.
 * A session also ends when its way to sign in is turned off.
 */
export async function useSession(
  db: Db,
  token: string,
  { idle_minutes, local_accounts, oidc }: Pick<ConsoleSettings, 'idle_minutes' | 'local_accounts' | 'oidc'>,
): Promise<Session | undefined> {
  const { rows } = await sql<Omit<Session, 'token'>>`
    UPDATE operator_sessions AS session SET last_used_at = clock_timestamp()
    WHERE token_hash = ${hashOf(token)} AND expires_at > clock_timestamp()
      AND last_used_at > clock_timestamp() - make_interval(mins => ${idle_minutes})
      AND CASE WHEN operator_id IS NULL THEN ${oidc !== undefined}::boolean ELSE ${local_accounts}::boolean END
      AND NOT EXISTS (
        SELECT FROM operators WHERE operators.id = session.operator_id AND operators.disabled_at IS NOT NULL)
    RETURNING operator_id AS "operatorId", name, coalesce((SELECT role FROM operators WHERE operators.id = session.operator_id), role) AS role`.execute(
    db,
  );
  const [found] = rows;
  return found && { ...found, token };
}

export async function endSession(db: Db, { token }: Session): Promise<void> {
  await db.deleteFrom('operator_sessions').where('token_hash', '=', hashOf(token)).execute();
}

/** Tokens have 256 random bits, so a plain hash is enough. */
function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The token that forms contain: another site knows neither it nor the cookie that it is made from (a keyed hash). */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('console form').digest('base64url');
}

export function isFormToken(cookie: string, text: string): boolean {
  return timingSafeEqual(hashOf(formToken(cookie)), hashOf(text));
}
