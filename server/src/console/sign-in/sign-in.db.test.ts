import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type TOTP, URI } from 'otpauth';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { createDatabaseClock } from '../../db/clock.ts';
import { createDb } from '../../db/kysely.ts';
import { unavailable } from '../../problems/problem.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { endSessionsOf, listSessions, lockAccount } from '../accounts/open-sessions.ts';
import { createOperator, resetOperator } from '../accounts/operators.ts';
import { beginNewCodes, changePassword, finishNewCodes } from '../accounts/own-account.ts';
import { isPassword } from './password.ts';
import { startSession } from './sessions.ts';
import { signIn } from './sign-in.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const services = {
  db: createDb(database),
  keys: createKeyRing([randomBytes(32)]),
  settings: resolveConsole({ url: 'https://gateway.internal.example.org', local_accounts: true }, {}),
  now: () => clock.now(),
};
const { db, keys } = services;
const clock = createDatabaseClock(db);
await clock.measure();

const address = '192.0.2.1';
const account = { name: 'kari', password: 'a first password', role: 'view' as const };
const codeOf = (uri: string | undefined, later = 0) =>
  (URI.parse(uri ?? '') as TOTP).generate({ timestamp: Date.now() + later });
const signInWith = (password: string, code: string, checkPassword?: typeof isPassword) =>
  signIn(services, { name: account.name, password, code, address, network: address }, checkPassword);
const rejected = { isAccount: true, waitSeconds: 0 };

test('a reset during a sign-in keeps its new password and its new one-time codes', async () => {
  const code = codeOf(await createOperator(db, keys, account));
  const reset = { ...account, password: 'a second password' };
  let uri: string | undefined;
  const resetMeanwhile = async () => {
    uri = await resetOperator(db, keys, reset);
    return true;
  };
  expect(await signInWith(account.password, code, resetMeanwhile)).toEqual(rejected);
  expect(await signInWith(reset.password, code)).toEqual(rejected);
  expect(await signInWith(reset.password, codeOf(uri))).toMatchObject({ name: account.name });
});

test('new codes during a sign-in stay, and the sign-in with an old one is rejected', async () => {
  // A later one than that which confirms the new codes.
  const before = codeOf(await resetOperator(db, keys, account), 30_000);
  const { id } = await db.selectFrom('operators').select('id').executeTakeFirstOrThrow();
  const session = await startSession(db, keys, { operatorId: id, name: account.name, role: 'view', hours: 1 });
  const begun = await beginNewCodes(services, session, { password: account.password });
  if (!(typeof begun === 'object' && 'uri' in begun)) throw new Error('The password was not accepted');
  const totp = URI.parse(begun.uri) as TOTP;
  const changeMeanwhile = async () => {
    const changed = await finishNewCodes(services, session, { sealed: begun.sealed, code: totp.generate() });
    expect(changed).toMatchObject({ name: account.name, role: 'view' });
    return true;
  };
  expect(await signInWith(account.password, before, changeMeanwhile)).toEqual(rejected);
  const next = totp.generate({ timestamp: Date.now() + 30_000 });
  expect(await signInWith(account.password, next)).toMatchObject({ name: account.name });
});

test('a session that has ended meanwhile changes no password', async () => {
  const code = codeOf(await resetOperator(db, keys, account));
  const { id } = await db.selectFrom('operators').select('id').executeTakeFirstOrThrow();
  const session = await startSession(db, keys, { operatorId: id, name: account.name, role: 'view', hours: 1 });
  await endSessionsOf(db, { name: account.name });
  const change = { password: account.password, code, newPassword: 'a third password' };
  expect(await changePassword(services, session, change)).toBe('rejected');
  expect(await listSessions(db)).toEqual([]);
  const { password_hash } = await db.selectFrom('operators').selectAll().executeTakeFirstOrThrow();
  expect(await isPassword(account.password, password_hash)).toBe(true);
});

test('the end of the sessions of an account includes one that a sign-in is starting', async () => {
  const { id } = await db.selectFrom('operators').select('id').executeTakeFirstOrThrow();
  await db.deleteFrom('operator_sessions').execute();
  const started = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const signingIn = db.transaction().execute(async (tx) => {
    await lockAccount(tx, account.name);
    await startSession(tx, keys, { operatorId: id, name: account.name, role: 'view', hours: 1 });
    started.resolve();
    await ending.promise;
  });
  await started.promise;
  let isEnded = false;
  const ended = endSessionsOf(db, { name: account.name }).finally(() => {
    isEnded = true;
  });
  await expect.poll(async () => isEnded || (await isAnyBlocked())).toBe(true);
  ending.resolve();
  await signingIn;
  expect(await ended).toBe(1);
});

async function isAnyBlocked(): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

test('a sign-in whose password was not checked does not count', async () => {
  const state = () =>
    sql`SELECT (SELECT array_agg(failures ORDER BY key_hash) FROM failed_sign_ins) AS failures,
      (SELECT count(*) FROM operator_activity)`.execute(db);
  await signInWith('a wrong password', '');
  const before = (await state()).rows;
  const overloaded = signInWith('a wrong password', '', () => Promise.reject(unavailable('overloaded')));
  await expect(overloaded).rejects.toMatchObject({ reason: 'overloaded' });
  expect((await state()).rows).toEqual(before);
});

test('a reset ends the pause of an account', async () => {
  await sql`UPDATE failed_sign_ins SET failures = 20`.execute(db);
  await signInWith('a wrong password', '');
  expect(await signInWith(account.password, '')).toMatchObject({ waitSeconds: expect.toSatisfy((it) => it > 60) });
  const code = codeOf(await resetOperator(db, keys, account));
  expect(await signInWith(account.password, code)).toMatchObject({ name: account.name });
});

test('one-time codes go by the time of the database, whatever the clock of this machine says', async () => {
  const uri = await resetOperator(db, keys, account);
  const code = codeOf(uri, 30_000);
  const { id } = await db.selectFrom('operators').select('id').executeTakeFirstOrThrow();
  const session = await startSession(db, keys, { operatorId: id, name: account.name, role: 'view', hours: 1 });
  const begun = await beginNewCodes(services, session, { password: account.password });
  if (!(typeof begun === 'object' && 'uri' in begun)) throw new Error('The password was not accepted');
  const confirming = codeOf(begun.uri);
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 10 * 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await signInWith(account.password, code)).toMatchObject({ name: account.name });
  expect(await finishNewCodes(services, session, { sealed: begun.sealed, code: confirming })).toMatchObject({
    name: account.name,
  });
});
