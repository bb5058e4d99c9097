import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { Db } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { isProven, prove } from '../../secrets/proofs.ts';
import {
  factsOfSession,
  isProvenOperator,
  type ProvenOperatorRow,
  type ProvenSessionRow,
  provenOperatorColumns,
} from '../accounts/proofs.ts';
import type { Role } from '../accounts/roles.ts';

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
  keys: KeyRing,
  { operatorId, subjectHash = null, name, role, hours }: NewSession,
): Promise<Session> {
  const token = randomBytes(32).toString('base64url');
  const expires_at = await timeIn(db, sql`make_interval(hours => ${hours})`);
  const row = {
    token_hash: hashOfSession(token),
    operator_id: operatorId,
    subject_hash: subjectHash,
    name,
    role,
    expires_at,
  };
  await db
    .insertInto('operator_sessions')
    .values({ ...row, sealed_proof: prove(keys, 'session', factsOfSession(row)) })
    .execute();
  return { token, operatorId, subjectHash, name, role };
}

/** The database's time after an interval, in milliseconds, so that JavaScript can prove it. */
export async function timeIn(db: Db, interval: RawBuilder<unknown>): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    SELECT date_trunc('milliseconds', clock_timestamp() + ${interval}) AS at`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The database returned no time');
  return row.at;
}

/**
 * Finds a session that has not expired, and notes that it is used. An account's role may have changed since the sign-in.
 * A session also ends when its way to sign in is turned off. One that no gateway has started is none, and neither is that of an
 * account that no gateway has made as it is.
 */
export async function useSession(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  token: string,
  settings: SessionSettings,
): Promise<Session | undefined> {
  const { rows } = await sql<ProvenSessionRow & AccountColumns>`
    WITH used AS (
      UPDATE operator_sessions AS session SET last_used_at = clock_timestamp()
      WHERE token_hash = ${hashOfSession(token)} AND ${isOpen(settings)}
        AND NOT EXISTS (
          SELECT FROM operators WHERE operators.id = session.operator_id AND operators.disabled_at IS NOT NULL)
      RETURNING token_hash, operator_id, subject_hash, name, role, expires_at, sealed_proof)
    SELECT used.*, ${accountColumns} FROM used LEFT JOIN operators AS account ON account.id = used.operator_id`.execute(
    db,
  );
  const [found] = rows;
  if (!found || !isProven(keys, 'session', factsOfSession(found), found.sealed_proof)) return undefined;
  const { operator_id: operatorId, subject_hash: subjectHash, name } = found;
  if (operatorId === null) return { token, operatorId, subjectHash, name, role: found.role };
  const account = {
    id: operatorId,
    name: found.account_name,
    role: found.account_role,
    password_hash: found.account_password_hash,
    sealed_totp_secret: found.account_sealed_totp_secret,
    disabled_at: found.account_disabled_at,
    sealed_proof: found.account_sealed_proof,
  };
  return isProvenOperator(keys, account) ? { token, operatorId, subjectHash, name, role: account.role } : undefined;
}

type AccountColumns = {
  readonly [Name in Exclude<keyof ProvenOperatorRow, 'id'> as `account_${Name}`]: ProvenOperatorRow[Name];
};

const accountColumns = sql.join(
  provenOperatorColumns.map((name) => sql`${sql.ref(`account.${name}`)} AS ${sql.ref(`account_${name}`)}`),
);

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

/** Deletes expired sessions and links, and failed sign-ins of yesterday, at most `limit` of each. */
export async function deleteOldConsoleData(db: Db, limit: number): Promise<void> {
  await sql`
    WITH sessions AS (
      DELETE FROM operator_sessions WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM operator_sessions WHERE expires_at < now() LIMIT ${limit})) RETURNING 1),
    links AS (
      DELETE FROM operator_sign_in_links WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM operator_sign_in_links WHERE expires_at < now() LIMIT ${limit})) RETURNING 1)
    DELETE FROM failed_sign_ins WHERE key_hash = ANY (ARRAY(
      SELECT key_hash FROM failed_sign_ins WHERE last_failed_at < now() - interval '1 day' LIMIT ${limit}))`.execute(
    db,
  );
}
