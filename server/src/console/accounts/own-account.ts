import { hash } from 'node:crypto';
import type { Db, Tx } from '../../db/kysely.ts';
import { inTransactionOrUnknown } from '../../db/transactions.ts';
import { type OperatorAction, recordActivity } from '../audit/activity.ts';
import {
  type Account,
  acceptProof,
  type CredentialServices,
  checkCode,
  type Proof,
  readAccount,
} from '../sign-in/credentials.ts';
import { type Attempt, countSignIn, forgiveSignIn, takeBackSignIn } from '../sign-in/failed-sign-ins.ts';
import { hashPassword, isPassword } from '../sign-in/password.ts';
import { hashOfSession, type Session, startSession } from '../sign-in/sessions.ts';
import { enrolmentUri, newTotpSecret, stepOfCode, totpContext } from '../sign-in/totp.ts';
import { endOwnSessions, lockAccount } from './open-sessions.ts';
import { proveOperator } from './proofs.ts';

/** Milliseconds in which new one-time codes must be confirmed. */
const lifetimeMs = 15 * 60_000;

/** `rejected`: wrong credentials. `waitSeconds`: too many failures, the credentials were not checked. */
export type AccountNotChanged = 'rejected' | { readonly waitSeconds: number };

interface PasswordChange {
  readonly password: string;
  readonly code: string;
  readonly newPassword: string;
}

/**
 * Changes the password of the account of this session. Ends all sessions of the account, and returns a new one: a copy of
 * the cookie is useless afterwards.
 */
export async function changePassword(
  services: CredentialServices,
  session: Session,
  { password, code, newPassword }: PasswordChange,
): Promise<Session | AccountNotChanged> {
  const { keys } = services;
  const attempt = attemptIn(session);
  const checked = await check(services, attempt, 'password_change', async (account) => {
    const proof = (await isPassword(password, account.password_hash)) && checkCode(services, account, code);
    return proof ? { proof, passwordHash: await hashPassword(newPassword) } : undefined;
  });
  if (!('passed' in checked)) return checked.failed;
  const { proof, passwordHash } = checked.passed;
  const changed = await change(services, session, 'password_change', proof, async (tx, id) => {
    await tx.updateTable('operators').set({ password_hash: passwordHash }).where('id', '=', id).execute();
    await forgiveSignIn(tx, keys, attempt);
  });
  return changed ?? 'rejected';
}

/** New one-time codes, which their operator has yet to confirm. */
export interface NewCodes {
  readonly uri: string;
  /** The secret of the codes, encrypted. Only this session can send it back. */
  readonly sealed: string;
}

/** Makes new one-time codes after a check of the password. Changes nothing. */
export async function beginNewCodes(
  services: CredentialServices,
  session: Session,
  { password }: Pick<PasswordChange, 'password'>,
): Promise<NewCodes | AccountNotChanged> {
  const { db, keys, now } = services;
  const attempt = attemptIn(session);
  const checked = await check(services, attempt, 'codes_change', async (account) =>
    (await isPassword(password, account.password_hash)) ? account : undefined,
  );
  if (!('passed' in checked)) return checked.failed;
  // Failures of codes stay: a password alone forgives none.
  await db.transaction().execute((tx) => takeBackSignIn(tx, keys, attempt));
  const secret = newTotpSecret();
  const begunAt = now().getTime();
  const pending: Pending = { secret: secret.toString('base64'), of: versionOf(checked.passed), begunAt };
  return {
    uri: enrolmentUri(secret, session.name),
    sealed: keys.seal('operator', JSON.stringify(pending), contextOf(session)).toString('base64url'),
  };
}

interface Pending {
  /** In base64. */
  readonly secret: string;
  /** The account that they were made for. */
  readonly of: string;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
}

/**
 * Gives the account of this session its new one-time codes, if a code shows that the operator has them. Ends all sessions
 * of the account, and returns a new one. `expired`: the account has changed meanwhile, or it was too long ago. Otherwise
 * the code is wrong, and the same codes can be confirmed again.
 */
export async function finishNewCodes(
  services: CredentialServices,
  session: Session,
  { sealed, code }: { readonly sealed: string; readonly code: string },
): Promise<Session | 'expired' | NewCodes> {
  const { db, keys } = services;
  const now = services.now().getTime();
  const account = await readAccount(db, keys, session.name);
  const text = keys.open('operator', Buffer.from(sealed, 'base64url'), contextOf(session));
  const pending: Pending | undefined = text && JSON.parse(text);
  if (!account || !pending || pending.of !== versionOf(account)) return 'expired';
  if (now - pending.begunAt > lifetimeMs) return 'expired';
  const secret = Buffer.from(pending.secret, 'base64');
  const step = stepOfCode(secret, code.replace(/\s/g, ''), 0, now);
  if (step === undefined) return { uri: enrolmentUri(secret, session.name), sealed };
  const sealed_totp_secret = keys.seal('operator', secret, totpContext(account.id));
  const changed = await change(services, session, 'codes_change', { account }, async (tx, id) => {
    const codes = { sealed_totp_secret, last_totp_step: String(step) };
    await tx.updateTable('operators').set(codes).where('id', '=', id).execute();
  });
  return changed ?? 'expired';
}

/** What new codes are bound to: nobody else can send them, and not in another session. */
function contextOf({ operatorId, token }: Session): string {
  return `new one-time codes of ${operatorId} in ${hashOfSession(token).toString('base64')}`;
}

/** Changes with the password and the codes of an account. */
function versionOf({ password_hash, sealed_totp_secret }: Account): string {
  return hash('sha256', JSON.stringify([password_hash, sealed_totp_secret?.toString('base64')]), 'base64');
}

/** Counted apart from sign-ins: those of others cannot keep a signed-in operator from changing a password. */
function attemptIn({ name }: Session): Attempt {
  return { name, source: { session: true } };
}

/** Counts a check of credentials as a failed sign-in before it is done, so that concurrent ones count too. */
async function check<Result>(
  { db, keys }: CredentialServices,
  attempt: Attempt,
  action: OperatorAction,
  work: (account: Account) => Promise<Result | undefined>,
): Promise<{ readonly passed: Result } | { readonly failed: AccountNotChanged }> {
  const waitSeconds = await db.transaction().execute((tx) => countSignIn(tx, keys, attempt));
  if (waitSeconds > 0) return { failed: { waitSeconds } };
  const account = await readAccount(db, keys, attempt.name);
  const result = await (account ? work(account) : Promise.resolve(undefined)).catch(async (error: unknown) => {
    // Such as under overload.
    await db.transaction().execute((tx) => takeBackSignIn(tx, keys, attempt));
    throw error;
  });
  if (result !== undefined) return { passed: result };
  await recordActivity(db, { operator: attempt.name, action, outcome: 'rejected' });
  return { failed: 'rejected' };
}

/** Changes an account that is as it was checked, if the session is still open. Replaces its sessions with a new one. */
function change(
  { db, keys, settings }: CredentialServices,
  session: Session,
  action: OperatorAction,
  proof: Proof,
  update: (tx: Tx, id: string) => Promise<void>,
): Promise<Session | undefined> {
  return inTransactionOrUnknown(db, async (tx) => {
    if (!(await acceptProof(tx, keys, proof))) return undefined;
    const { id, name, role } = proof.account;
    // Somebody may have ended this session during the check.
    if (!(await endOwnSessions(tx, session))) return undefined;
    await update(tx, id);
    await proveOperator(tx, keys, id);
    await recordActivity(tx, { operator: name, action, outcome: 'done' });
    return startSession(tx, keys, { operatorId: id, name, role, hours: settings.session_hours });
  });
}

/** Ends all sessions of the operator of this one. */
export function signOutEverywhere(db: Db, session: Session): Promise<void> {
  return inTransactionOrUnknown(db, async (tx) => {
    await lockAccount(tx, session.name);
    await endOwnSessions(tx, session);
    await recordActivity(tx, { operator: session.name, action: 'sessions_end', target: session.name, outcome: 'done' });
  });
}
