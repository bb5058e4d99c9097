import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type TOTP, URI } from 'otpauth';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database.ts';
import { resolveConsole } from '../config/console-settings.ts';
import { createDb } from '../db/kysely.ts';
import { unavailable } from '../problems/problem.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { createOperator, resetOperator } from './operators.ts';
import type { isPassword } from './password.ts';
import { signIn } from './sign-in.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const services = {
  db: createDb(database),
  keys: createKeyRing([randomBytes(32)]),
  settings: resolveConsole({ url: 'https://gateway.internal.example.org', local_accounts: true }, {}),
};
const { db, keys } = services;

const account = { name: 'kari', password: 'a first password', role: 'view' as const };
const codeOf = (uri: string | undefined) => (URI.parse(uri ?? '') as TOTP).generate();
const signInWith = (password: string, code: string, checkPassword?: typeof isPassword) =>
  signIn(services, { name: account.name, password, code, address: '192.0.2.1' }, checkPassword);

test('a reset during a sign-in keeps its new password and its new one-time codes', async () => {
  const code = codeOf(await createOperator(db, keys, account));
  const reset = { ...account, password: 'a second password' };
  let uri: string | undefined;
  const resetMeanwhile = async () => {
    uri = await resetOperator(db, keys, reset);
    return true;
  };
  expect(await signInWith(account.password, code, resetMeanwhile)).toBe('rejected');
  expect(await signInWith(reset.password, code)).toBe('rejected');
  expect(await signInWith(reset.password, codeOf(uri))).toMatchObject({ name: account.name });
});

test('a sign-in whose password was not checked does not count', async () => {
  const state = () =>
    sql`SELECT (SELECT max(failures) FROM failed_sign_ins) AS failures, (SELECT count(*) FROM operator_activity)`.execute(
      db,
    );
  await signInWith('a wrong password', '');
  const before = (await state()).rows;
  const overloaded = signInWith('a wrong password', '', () => Promise.reject(unavailable('overloaded')));
  await expect(overloaded).rejects.toMatchObject({ reason: 'overloaded' });
  expect((await state()).rows).toEqual(before);
});

test('a reset ends the pause of an account', async () => {
  await sql`UPDATE failed_sign_ins SET failures = 20`.execute(db);
  await signInWith('a wrong password', '');
  expect(await signInWith(account.password, '')).toHaveProperty('waitSeconds');
  const code = codeOf(await resetOperator(db, keys, account));
  // The address has its own pause.
  const elsewhere = { name: account.name, password: account.password, code, address: '192.0.2.2' };
  expect(await signIn(services, elsewhere)).toMatchObject({ name: account.name });
});
