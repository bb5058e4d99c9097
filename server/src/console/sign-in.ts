import { sql } from 'kysely';
import { acceptProof, type CredentialServices, checkCode, readAccount } from './credentials.ts';
import { countSignIn, forgiveSignIn, takeBackSignIn } from './failed-sign-ins.ts';
import { operatorNamePattern } from './operators.ts';
import { isPassword } from './password.ts';
import { type Session, startSession } from './sessions.ts';

interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly code: string;
  /** The address that limits count by: see `callerOf`. */
  readonly address: string;
}

/** `waitSeconds`: too many failures, the credentials were not checked. */
type SignedIn = Session | 'rejected' | { readonly waitSeconds: number };

/**
 * Signs in with an account of the gateway. Does the same work for an unknown name, a wrong password and a wrong code, and
 * does not say which it was.
 */
export async function signIn(
  services: CredentialServices,
  { name: givenName, password, code, address }: Credentials,
  checkPassword = isPassword,
): Promise<SignedIn> {
  const { db, keys, settings } = services;
  // Nobody has the empty name. Others, such as one with a NUL, PostgreSQL would reject.
  const name = operatorNamePattern.test(givenName) ? givenName : '';
  const counted = await db.transaction().execute(async (tx) => {
    const waitSeconds = await countSignIn(tx, keys, { name, address });
    // Recorded before it is checked: it then takes the same time for an account that exists.
    const { rows } = await sql<{ id: string }>`
      INSERT INTO operator_activity (operator_name, action, outcome)
      SELECT name, 'sign_in', 'rejected' FROM operators WHERE name = ${name} AND ${waitSeconds} = 0
      RETURNING id::text`.execute(tx);
    return { waitSeconds, activityId: rows[0]?.id };
  });
  if (counted.waitSeconds > 0) return { waitSeconds: counted.waitSeconds };
  const account = await readAccount(db, name);
  const isRight = await checkPassword(password, account?.password_hash).catch(async (error: unknown) => {
    // Nothing was checked, such as under overload, so nothing counts.
    await db.transaction().execute(async (tx) => {
      await takeBackSignIn(tx, keys, { name, address });
      await sql`DELETE FROM operator_activity WHERE id = ${counted.activityId}`.execute(tx);
    });
    throw error;
  });
  const proof = account && isRight && checkCode(services, account, code);
  if (!proof) return 'rejected';
  return db.transaction().execute(async (tx) => {
    if (!(await acceptProof(tx, keys, proof))) return 'rejected';
    await forgiveSignIn(tx, keys, { name, address });
    await sql`UPDATE operator_activity SET outcome = 'done' WHERE id = ${counted.activityId}`.execute(tx);
    await sql`UPDATE operators SET last_sign_in_at = clock_timestamp() WHERE id = ${account.id}`.execute(tx);
    return startSession(tx, {
      operatorId: account.id,
      name: account.name,
      role: account.role,
      hours: settings.session_hours,
    });
  });
}
