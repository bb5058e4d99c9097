/** @module-tag any-database */
import { sql } from 'kysely';
import { type TOTP, URI } from 'otpauth';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { consoleBrowser, consoleUrl, newOperator, withConsole } from '../../../../test/requests/console.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { startSession, subjectHash } from '../sign-in/sessions.ts';
import type { Role } from './roles.ts';

const issuer = 'https://login.example.org';
const gateway = await startGateway({
  configure: (it) => ({
    ...withConsole(it),
    console: resolveConsole(
      {
        url: consoleUrl,
        local_accounts: true,
        oidc: { issuer, client_id: 'crossward', role_claim: 'groups', roles: {} },
      },
      {},
    ),
  }),
  logLevel: 'trace',
});
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;
const cookie = '__Host-crossward-console';
const newPassword = 'kanari new password 7714';
const shown: string[] = [];
/** Rows of the tables after each test. */
const stored: string[] = [];
afterEach(async () => {
  const { rows } = await sql<{ row: string }>`
    SELECT it::text AS row FROM operator_activity it UNION ALL SELECT it::text FROM operators it`.execute(db);
  stored.push(...rows.map(({ row }) => row));
  await sql`DELETE FROM failed_sign_ins`.execute(db);
});

let operators = 0;

/** A new account, and two browsers that are signed in with it. Its codes are unused. */
async function signedIn(role: Role = 'view') {
  const operator = await newOperator(gateway, `operator-${++operators}`, role);
  const { id } = await db
    .selectFrom('operators')
    .select('id')
    .where('name', '=', operator.name)
    .executeTakeFirstOrThrow();
  const open = async () => {
    const browser = consoleBrowser(gateway);
    const { token } = await startSession(db, keys, { operatorId: id, name: operator.name, role, hours: 12 });
    browser.cookies.set(cookie, token);
    await browser.open('/console/your-account');
    return browser;
  };
  return { operator, browser: await open(), other: await open() };
}

type Browser = Awaited<ReturnType<typeof signedIn>>['browser'];
type Fields = Readonly<Record<string, string>>;

const changePassword = (browser: Browser, fields: Fields) =>
  browser.submit('/console/your-account/password', {
    new_password: newPassword,
    repeated_password: newPassword,
    ...fields,
  });

async function signIn(fields: Fields): Promise<number> {
  const browser = consoleBrowser(gateway);
  await browser.open('/console/sign-in');
  return (await browser.submit('/console/sign-in', fields)).status;
}

const actionsOf = async (name: string) =>
  (await db.selectFrom('operator_activity').selectAll().where('operator_name', '=', name).orderBy('id').execute()).map(
    ({ action, outcome }) => `${action} ${outcome}`,
  );

test('an operator changes the password, which ends the other sessions and makes copies of the cookie useless', async () => {
  const { operator, browser, other } = await signedIn();
  const { name, password } = operator;
  const copy = consoleBrowser(gateway);
  copy.cookies.set(cookie, browser.cookies.get(cookie) ?? '');
  const page = await changePassword(browser, { password, code: operator.code() });
  expect([page.path, page.text]).toEqual([
    '/console/your-account?result=password',
    expect.stringContaining('Your password is changed, and your other sessions have ended.'),
  ]);
  expect((await browser.open('/console')).text).toContain(`${name} (view)`);
  for (const it of [copy, other]) expect((await it.open('/console')).path).toBe('/console/sign-in');
  const code = operator.code();
  expect(await signIn({ name, password, code })).toBe(401);
  expect(await signIn({ name, password: newPassword, code })).toBe(200);
  expect(await actionsOf(name)).toEqual(['password_change done', 'sign_in rejected', 'sign_in done']);
});

test('a password that is wrong, or against the rules, changes nothing and is not shown', async () => {
  const { operator, browser, other } = await signedIn();
  const { name, password } = operator;
  const code = operator.code();
  const mistakes = [
    [
      { new_password: 'short', repeated_password: 'short' },
      400,
      'A password has 12 to 200 characters; this one has 5.',
    ],
    [{ new_password: password, repeated_password: password }, 400, 'Choose another password than the current one.'],
    [{ repeated_password: 'another new password' }, 400, 'The two new passwords differ.'],
    [{ password: 'a wrong password' }, 403, 'The current password or the one-time code is wrong.'],
    [{ code: '' }, 403, 'The current password or the one-time code is wrong.'],
  ] as const;
  for (const [fields, status, problem] of mistakes) {
    const page = await changePassword(browser, { password, code, ...fields });
    expect([page.status, page.text]).toEqual([status, expect.stringContaining(`Nothing was changed. ${problem}`)]);
    expect(page.html).not.toContain(newPassword);
    expect(page.html).not.toContain(password);
  }
  expect((await other.open('/console')).path).toBe('/console');
  expect(await actionsOf(name)).toEqual(['password_change rejected', 'password_change rejected']);
  expect(await signIn({ name, password, code: operator.code() })).toBe(200);
});

test('guesses in a session start pauses there, and keep nobody from signing in', async () => {
  const { operator, browser } = await signedIn();
  await changePassword(browser, { password: 'a wrong password', code: '' });
  // The next failure starts a pause of minutes.
  await sql`UPDATE failed_sign_ins SET failures = 12`.execute(db);
  const guess = await browser.submit('/console/your-account/codes', { codes_password: 'a wrong password' });
  expect([guess.status, guess.text]).toEqual([
    403,
    expect.stringContaining('Nothing was changed. The password is wrong.'),
  ]);
  const right = { password: operator.password, code: operator.code() };
  const page = await changePassword(browser, right);
  expect([page.status, page.text]).toEqual([429, expect.stringContaining('Too many wrong passwords or codes. Wait ')]);
  expect(Number(page.headers['retry-after'])).toBeGreaterThan(60);
  expect(await signIn({ name: operator.name, ...right })).toBe(200);
});

test('new one-time codes are in use when one of them is entered, in the session that asked for them', async () => {
  const { operator, browser, other } = await signedIn('operate');
  const { name, password } = operator;
  const begin = (it: Browser) => it.submit('/console/your-account/codes', { codes_password: password });
  const page = await begin(browser);
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.html).toMatch(/<svg class="qr" /);
  const [, uri = ''] = /aria-label="URI of the one-time codes">([^<]+)</.exec(page.html) ?? [];
  const totp = URI.parse(uri.replaceAll('&amp;', '&')) as TOTP;
  const [, codes = ''] = /name="codes" value="([^"]+)"/.exec(page.html) ?? [];
  shown.push(totp.secret.base32, codes);
  const confirm = (it: Browser, code: string) => it.submit('/console/your-account/new-codes', { codes, code });

  const elsewhere = await confirm(other, totp.generate());
  expect([elsewhere.status, elsewhere.text]).toEqual([409, expect.stringContaining('These codes are out of date.')]);
  // The current codes are not those.
  const wrong = await confirm(browser, operator.totp.generate());
  expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining(uri)]);
  expect(await signIn({ name, password, code: operator.code() })).toBe(200);

  const now = Date.now();
  const [used, next] = [0, 30_000].map((later) => totp.generate({ timestamp: now + later }));
  const done = await confirm(browser, used ?? '');
  expect(done.text).toContain('Your one-time codes are changed, and your other sessions have ended.');
  expect((await other.open('/console')).path).toBe('/console/sign-in');
  expect((await confirm(browser, next ?? '')).status).toBe(409);
  expect(await signIn({ name, password, code: operator.code() })).toBe(401);
  expect(await signIn({ name, password, code: used ?? '' })).toBe(401);
  expect(await signIn({ name, password, code: next ?? '' })).toBe(200);
  expect(await actionsOf(name)).toContain('codes_change done');
});

test('an operator signs out everywhere', async () => {
  const { operator, browser, other } = await signedIn();
  const { text } = await browser.open('/console/your-account');
  expect(text.match(/this one|another one/g)?.sort()).toEqual(['another one', 'this one']);
  const page = await browser.submit('/console/your-account/sign-out');
  expect(page.text).toContain('You are signed out everywhere.');
  expect(browser.cookies.has(cookie)).toBe(false);
  expect((await other.open('/console')).path).toBe('/console/sign-in');
  expect(await actionsOf(operator.name)).toEqual(['sessions_end done']);
});

test('an operator by OpenID Connect has no password here, and ends no sessions of another with the same name', async () => {
  const open = async (subject: string, name: string) => {
    const browser = consoleBrowser(gateway);
    const owner = { operatorId: null, subjectHash: subjectHash(issuer, subject), name, role: 'view' } as const;
    browser.cookies.set(cookie, (await startSession(db, keys, { ...owner, hours: 12 })).token);
    await browser.open('/console/your-account');
    return browser;
  };
  const browser = await open('1', 'oidc:kari');
  const renamed = await open('1', 'oidc:kari.hansen');
  const namesake = await open('2', 'oidc:kari');
  const page = await browser.open('/console/your-account');
  expect(page.text).toContain('You sign in with login.example.org, which manages your password');
  expect(page.html).not.toContain('type="password"');
  for (const form of ['password', 'codes', 'new-codes']) {
    const { path, status } = await browser.submit(`/console/your-account/${form}`, { codes_password: newPassword });
    expect([path, status]).toEqual(
      form === 'new-codes' ? [`/console/your-account/${form}`, 409] : ['/console/your-account', 200],
    );
  }
  await browser.submit('/console/your-account/sign-out');
  for (const it of [browser, renamed]) expect((await it.open('/console')).path).toBe('/console/sign-in');
  expect((await namesake.open('/console')).path).toBe('/console');
});

test('no log line, table or entry of the activity list contains a password or a secret', () => {
  expect(shown).toHaveLength(2);
  const texts = [...gateway.logLines, ...stored].join('\n');
  expect(texts).toContain('$argon2id$');
  for (const secret of [newPassword, ...shown]) expect(texts).not.toContain(secret);
});
