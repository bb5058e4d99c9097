import { randomUUID } from 'node:crypto';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { Db } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { lockOperator, proveOperator } from '../accounts/proofs.ts';
import { hashPassword, isPassword } from './password.ts';

/** Creates the account of the demo, or gives it the password of this data directory. Leaves one with one-time codes alone. */
export async function ensureDemoOperator(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  { demoOperator }: ConsoleSettings,
): Promise<void> {
  if (!demoOperator) return;
  const { name } = demoOperator;
  const password = demoOperator.password.reveal();
  const account = await db.transaction().execute((tx) => lockOperator(tx, keys, name));
  if (account?.row.sealed_totp_secret) return;
  if (account?.isProven && (await isPassword(password, account.row.password_hash))) return;
  const password_hash = await hashPassword(password);
  await db.transaction().execute(async (tx) => {
    const { id } = await tx
      .insertInto('operators')
      .values({ id: randomUUID(), name, role: 'admin', password_hash, sealed_totp_secret: null })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ password_hash, sealed_totp_secret: null }))
      .returning('id')
      .executeTakeFirstOrThrow();
    await proveOperator(tx, keys, id);
  });
}
