import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ConsoleSettings } from '../config/console-settings.ts';
import type { Db } from '../db/kysely.ts';
import type { Role } from './roles.ts';

/** Who has signed in. */
interface Owner {
  /** The account. `null`: signed in with OpenID Connect. */
  readonly operatorId: string | null;
  /** See `subjectHash`. `null`: signed in with an account. */
  readonly subjectHash: Buffer | null;
  readonly name: string;
  readonly role: Role;
}

/** A signed-in operator. */
export interface Session extends Owner {
  /** What the browser stores. The database has a hash of it. */
  readonly token: string;
}

interface NewSession extends Omit<Owner, 'subjectHash'> {
  readonly subjectHash?: Buffer | null;
  readonly hours: number;
}

/** What decides whether a session can still be used. */
export type SessionSettings = Pick<ConsoleSettings, 'idle_minutes' | 'local_accounts' | 'oidc'>;

/** Starts a session with a new random token, so that nobody can prepare one for an operator. */
export async function startSession(
  db: Db,
  { operatorId, subjectHash = null, name, role, hours }: NewSession,
): Promise<Session> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('operator_sessions')
    .values({
      token_hash: hashOfSession(token),
      operator_id: operatorId,
      subject_hash: subjectHash,
      name,
      role,
      expires_at: sql<Date>`clock_timestamp() + make_interval(hours => ${hours})`,
    })
    .execute();
  return { token, operatorId, subjectHash, name, role };
}

/**
 * Finds a session that has not expired, and notes that it is used. An account's role may have changed since the sign-in.
 * A session also ends when its way to sign in is turned off.
 */
export async function useSession(db: Db, token: string, settings: SessionSettings): Promise<Session | undefined> {
  const { rows } = await sql<Omit<Session, 'token'>>`
    UPDATE operator_sessions AS session SET last_used_at = clock_timestamp()
    WHERE token_hash = ${hashOfSession(token)} AND ${isOpen(settings)}
      AND NOT EXISTS (
        SELECT FROM operators WHERE operators.id = session.operator_id AND operators.disabled_at IS NOT NULL)
    RETURNING operator_id AS "operatorId", subject_hash AS "subjectHash", name,
      coalesce((SELECT role FROM operators WHERE operators.id = session.operator_id), role) AS role`.execute(db);
  const [found] = rows;
  return found && { ...found, token };
}

/** The condition that a session has neither expired nor lost its way to sign in. */
export function isOpen({ idle_minutes, local_accounts, oidc }: SessionSettings): RawBuilder<boolean> {
  return sql<boolean>`expires_at > clock_timestamp()
    AND last_used_at > clock_timestamp() - make_interval(mins => ${idle_minutes})
    AND CASE WHEN operator_id IS NULL THEN ${oidc !== undefined}::boolean ELSE ${local_accounts}::boolean END`;
}

export async function endSession(db: Db, token: string): Promise<void> {
  await db.deleteFrom('operator_sessions').where('token_hash', '=', hashOfSession(token)).execute();
}

/** Tokens have 256 random bits, so a plain hash is enough. */
export function hashOfSession(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Whom a provider has signed in. A subject is unique at its issuer only (OpenID Connect Core, section 2). */
export function subjectHash(issuer: string, subject: string): Buffer {
  return hash('sha256', JSON.stringify([issuer, subject]), 'buffer');
}

/** The token that forms contain: another site knows neither it nor the cookie that it is made from (a keyed hash). */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('console form').digest('base64url');
}

export function isFormToken(cookie: string, text: string): boolean {
  return timingSafeEqual(hashOfSession(formToken(cookie)), hashOfSession(text));
}
