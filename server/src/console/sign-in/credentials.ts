import { sql } from 'kysely';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { Db, Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { isProvenOperator, type ProvenOperatorRow, provenOperatorColumns, proveOperator } from '../accounts/proofs.ts';
import { stepOfCode, totpContext } from './totp.ts';

/** What checks of credentials work with. */
export interface CredentialServices {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly settings: ConsoleSettings;
  /** The database's time. One-time codes go by it, because the clock of this machine can be wrong. */
  now(): Date;
}

/** An enabled account, as it was when its credentials were checked. */
export interface Account extends ProvenOperatorRow {
  readonly last_totp_step: string | null;
}

/** An account whose credentials are right, and the time step of its one-time code. */
export interface Proof {
  readonly account: Account;
  /** `undefined`: no code was asked for. */
  readonly step?: number | undefined;
}

/**
 * An enabled account that a gateway has made as it is.
 *
 * @param name a name that an account can have
 */
export async function readAccount(db: Db, keys: KeyRing, name: string): Promise<Account | undefined> {
  const found = await db
    .selectFrom('operators')
    .select([...provenOperatorColumns, 'last_totp_step'])
    .where('name', '=', name)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return found && isProvenOperator(keys, found) ? found : undefined;
}

/** Checks a one-time code, which `acceptProof` uses up. Only the demo's account has none. Sends no statement. */
export function checkCode(
  { keys, settings, now }: CredentialServices,
  account: Account,
  code: string,
): Proof | undefined {
  const { id, sealed_totp_secret, last_totp_step } = account;
  if (!sealed_totp_secret) return settings.demoOperator?.name === account.name ? { account } : undefined;
  const secret = keys.openBytes('operator', sealed_totp_secret, totpContext(id));
  const step = secret && stepOfCode(secret, code.replace(/\s/g, ''), Number(last_totp_step ?? 0), now().getTime());
  return step === undefined ? undefined : { account, step };
}

/**
 * Locks the account until the end of the transaction, and uses up the code. Returns `false` if the account has been
 * disabled or has other secrets since the check, or if another request has used the code.
 */
export async function acceptProof(tx: Tx, keys: KeyRing, { account, step }: Proof): Promise<boolean> {
  const { id, password_hash, sealed_totp_secret, sealed_proof } = account;
  const newest = underNewestKey(keys, account);
  const { numAffectedRows } = await sql`
    UPDATE operators SET last_totp_step = coalesce(${step ?? null}::bigint, last_totp_step),
      sealed_totp_secret = ${newest}
    WHERE id = ${id} AND disabled_at IS NULL AND password_hash = ${password_hash} AND role = ${account.role}
      AND sealed_proof = ${sealed_proof}
      AND sealed_totp_secret IS NOT DISTINCT FROM ${sealed_totp_secret}
      AND (${step ?? null}::bigint IS NULL OR coalesce(last_totp_step, 0) < ${step ?? null}::bigint)`.execute(tx);
  if (numAffectedRows !== 1n) return false;
  if (newest !== sealed_totp_secret) await proveOperator(tx, keys, id);
  return true;
}

/** The secret of the codes under the newest secret key, so that older ones can be removed. */
function underNewestKey(keys: KeyRing, { id, sealed_totp_secret }: Account): Buffer | null {
  if (!sealed_totp_secret || keys.isUnderNewest(sealed_totp_secret)) return sealed_totp_secret;
  const secret = keys.openBytes('operator', sealed_totp_secret, totpContext(id));
  return secret ? keys.seal('operator', secret, totpContext(id)) : sealed_totp_secret;
}
