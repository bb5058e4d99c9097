import { randomUUID } from 'node:crypto';
import type { ConsoleSettings } from '../config/console-settings.ts';
import type { Db } from '../db/kysely.ts';
import { hashPassword, isPassword } from './password.ts';

/** Creates the account of the demo, or gives it the password of this data directory. Leaves one with one-time codes alone. */
export async function ensureDemoOperator(db: Db, { demoOperator }: ConsoleSettings): Promise<void> {
  if (!demoOperator) return;
  const { name } = demoOperator;
  const password = demoOperator.password.reveal();
  const account = await db
    .selectFrom('operators')
    .select(['password_hash', 'sealed_totp_secret'])
    .where('name', '=', name)
    .executeTakeFirst();
  if (account?.sealed_totp_secret || (account && (await isPassword(password, account.password_hash)))) return;
  const password_hash = await hashPassword(password);
  await db
    .insertInto('operators')
    .values({ id: randomUUID(), name, role: 'admin', password_hash, sealed_totp_secret: null })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ password_hash }))
    .execute();
}
