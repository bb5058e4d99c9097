/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type TOTP, URI } from 'otpauth';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import {
  consoleBrowser,
  consoleUrl,
  newOperator,
  type TestOperator,
  withConsole,
} from '../../../../test/requests/console.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { formToken, startSession } from '../sign-in/sessions.ts';
import { changeRole, createOperator, listOperators } from './operators.ts';
import type { Role } from './roles.ts';

const oidc = { issuer: 'https://login.example.org', client_id: 'crossward', role_claim: 'groups', roles: {} };
const gateway = await startGateway({
  configure: (it) => ({
    ...withConsole(it),
    console: resolveConsole({ url: consoleUrl, local_accounts: true, oidc }, {}),
  }),
  logLevel: 'trace',
});
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;
afterEach(async () => {
  const { rows } = await sql<{ row: string }>`
    SELECT it::text AS row FROM operator_activity it UNION ALL SELECT it::text FROM operators it`.execute(db);
  stored.push(...rows.map(({ row }) => row));
  await sql`DELETE FROM operators`.execute(db);
  await sql`DELETE FROM failed_sign_ins`.execute(db);
});

/** Signed in with OpenID Connect, so without an account. */
async function signedIn(role: Role) {
  const browser = consoleBrowser(gateway);
  const { token } = await startSession(db, keys, { operatorId: null, name: 'kari', role, hours: 12 });
  browser.cookies.set('__Host-crossward-console', token);
  return browser;
}
const shown: string[] = [];
/** Rows of the tables after each test. */
const stored: string[] = [];

/** The secrets that a page shows. */
function secretsIn(html: string): Pick<TestOperator, 'password' | 'code'> {
  const [, password = ''] = /aria-label="Password">([^<]+)</.exec(html) ?? [];
  const [, uri = ''] = /aria-label="URI of the one-time codes">([^<]+)</.exec(html) ?? [];
  shown.push(
    password,
    uri.replaceAll('&amp;', '&'),
    new URL(uri.replaceAll('&amp;', '&')).searchParams.get('secret') ?? '',
  );
  const totp = URI.parse(uri.replaceAll('&amp;', '&')) as TOTP;
  return { password, code: () => totp.generate() };
}

const activityAbout = async (name: string) =>
  (await db.selectFrom('operator_activity').selectAll().where('target', '=', name).orderBy('id').execute()).map(
    ({ operator_name, action, outcome }) => `${operator_name}: ${action} ${outcome}`,
  );

test('an admin creates an account, whose secrets are shown once, and which can sign in', async () => {
  const admin = await signedIn('admin');
  const mistakes = [
    [{ name: 'kari@example.org', role: 'view' }, 400, 'Name: Enter 1 to 63 lower-case letters'],
    [{ name: '', role: 'view' }, 400, 'Name: Enter 1 to 63 lower-case letters'],
    [{ name: 'ola', role: 'owner' }, 400, 'Role: Choose view, operate, admin.'],
  ] as const;
  for (const [fields, status, problem] of mistakes) {
    await admin.open('/console/new-account');
    const page = await admin.submit('/console/new-account', fields);
    expect([page.status, page.text]).toEqual([status, expect.stringContaining(`No account was created. ${problem}`)]);
  }
  await admin.open('/console/new-account');
  const created = await admin.submit('/console/new-account', { name: 'ola.nordmann', role: 'operate' });
  expect(created.headers['cache-control']).toBe('no-store');
  expect(created.html).toMatch(/<svg class="qr" viewBox="0 0 \d+ \d+" role="img" aria-label="QR code/);
  const secrets = secretsIn(created.html);
  expect(secrets.password).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
  const again = await admin.submit('/console/new-account', { name: 'ola.nordmann', role: 'admin' });
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('Name: The name is taken.')]);

  const ola = consoleBrowser(gateway);
  await ola.open('/console/sign-in');
  expect(
    (await ola.submit('/console/sign-in', { name: 'ola.nordmann', password: secrets.password, code: secrets.code() }))
      .text,
  ).toContain('ola.nordmann (operate)');
  const list = await admin.open('/console/accounts');
  expect(list.text).toMatch(/enabled ola\.nordmann operate yes \d+ \w+ \d{4} [\d:]+ UTC/);
  expect(list.html).not.toMatch(/otpauth|[a-z2-9]{5}-[a-z2-9]{5}-/);
  expect(await activityAbout('ola.nordmann')).toEqual([
    'kari: account_create done',
    'kari: account_create not_possible',
  ]);
});

test('a reset shows new secrets, ends the sessions and enables the account', async () => {
  const admin = await signedIn('admin');
  const ola = await newOperator(gateway, 'ola', 'view');
  const browser = consoleBrowser(gateway);
  await browser.signIn(ola);
  await admin.open('/console/accounts/ola');
  expect((await admin.submit('/console/accounts/ola/disable')).text).toContain('The account is disabled');
  expect((await browser.open('/console')).path).toBe('/console/sign-in');
  expect((await admin.submit('/console/accounts/ola/disable')).text).toContain('the account is disabled already');
  const secrets = secretsIn((await admin.submit('/console/accounts/ola/reset')).html);
  expect(
    (await browser.submit('/console/sign-in', { name: 'ola', password: ola.password, code: secrets.code() })).status,
  ).toBe(401);
  await browser.open('/console/sign-in');
  await browser.submit('/console/sign-in', { name: 'ola', password: secrets.password, code: secrets.code() });
  expect((await browser.open('/console')).text).toContain('ola (view)');

  await admin.open('/console/accounts/ola');
  expect((await admin.submit('/console/accounts/ola/role', { role: 'operate' })).text).toContain('The role is changed');
  expect((await browser.open('/console')).text).toContain('ola (operate)');
  for (const action of ['role', 'disable', 'reset']) {
    await admin.open('/console/accounts');
    expect((await admin.submit(`/console/accounts/nobody/${action}`, { role: 'view' })).status).toBe(404);
  }
});

test('an admin ends the sessions of another operator, with an account or by OpenID Connect', async () => {
  const admin = await signedIn('admin');
  await newOperator(gateway, 'eva', 'view');
  const { id } = await db.selectFrom('operators').select('id').where('name', '=', 'eva').executeTakeFirstOrThrow();
  const open = async (operatorId: string | null, name: string) => {
    const browser = consoleBrowser(gateway);
    const { token } = await startSession(db, keys, { operatorId, name, role: 'view', hours: 12 });
    browser.cookies.set('__Host-crossward-console', token);
    return browser;
  };
  const eva = await open(id, 'eva');
  const strange = 'oidc:eva/../"<b>&amp;';
  const atProvider = await open(null, strange);
  const bystander = await open(null, 'oidc:eva');
  const list = await admin.open('/console/accounts');
  expect(list.text).toMatch(/enabled eva view yes none [^U]+ UTC \([^)]+ Oslo\) 1 /);
  expect(list.html).toContain('oidc:eva/../&quot;&lt;b&gt;&amp;amp;');

  await admin.open('/console/accounts/eva');
  const ended = await admin.submit('/console/end-sessions');
  expect([ended.path, ended.text]).toEqual([
    '/console/accounts/eva?result=sessions',
    expect.stringContaining('The sessions have ended.'),
  ]);
  expect((await eva.open('/console')).path).toBe('/console/sign-in');
  expect((await atProvider.open('/console')).path).toBe('/console');

  await admin.open('/console/accounts');
  expect((await admin.submit('/console/end-sessions', { name: strange })).path).toBe(
    '/console/accounts?result=sessions',
  );
  expect((await atProvider.open('/console')).path).toBe('/console/sign-in');
  expect((await bystander.open('/console')).path).toBe('/console');
  for (const name of ['', 'nobody', 'a\0b', 'oidc:nobody']) {
    await admin.open('/console/accounts');
    expect((await admin.submit('/console/end-sessions', { name })).text).toContain('nobody with this name');
  }
  // The removal of a NUL must not make another one.
  const form_token = formToken(admin.cookies.get('__Host-crossward-console') ?? '');
  const body = `${new URLSearchParams({ form_token })}&name=a%0%000b`;
  expect((await admin.send('POST', '/console/end-sessions', { body })).headers.location).toContain('result=unknown');
  await admin.open('/console/accounts');
  expect((await admin.submit('/console/end-sessions', { name: 'kari' })).path).toBe('/console/your-account');
  for (const name of ['eva', strange]) expect((await activityAbout(name)).at(-1)).toBe('kari: sessions_end done');
  expect(await activityAbout('nobody')).toEqual([]);
});

test('an admin whose sessions end while a request is on its way creates and changes nothing', async () => {
  await newOperator(gateway, 'ola', 'view');
  const before = await listOperators(db);
  await sql`
    CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN DELETE FROM operator_sessions; RETURN NEW; END'`.execute(db);
  await sql`CREATE TRIGGER meanwhile BEFORE INSERT OR UPDATE ON operators EXECUTE FUNCTION end_sessions()`.execute(db);
  await sql`CREATE TRIGGER meanwhile BEFORE INSERT ON clients EXECUTE FUNCTION end_sessions()`.execute(db);
  const writes = [
    ['new-account', { name: 'per', role: 'admin' }],
    ['accounts/ola/role', { role: 'admin' }],
    ['accounts/ola/reset', {}],
    ['accounts/ola/disable', {}],
    ['new-client', { id: 'backdoor', name: 'Backdoor', scope: 'appointments:read', grant: 'sandbox-no' }],
  ] as const;
  for (const [path, fields] of writes) {
    const admin = await signedIn('admin');
    await admin.open('/console/accounts');
    const page = await admin.submit(`/console/${path}`, fields);
    expect([path, page.text]).toEqual([
      path,
      expect.stringContaining('Your session had ended, so nothing was changed.'),
    ]);
    expect(page.html).not.toContain('otpauth');
  }
  await sql`DROP FUNCTION end_sessions() CASCADE`.execute(db);
  expect(await listOperators(db)).toEqual(before);
  expect(await db.selectFrom('clients').select('id').execute()).toEqual([]);
});

test('nobody changes the own account, and one admin remains', async () => {
  const kari = await newOperator(gateway, 'kari.admin', 'admin');
  const browser = consoleBrowser(gateway);
  await browser.signIn(kari);
  const own = await browser.open('/console/accounts/kari.admin');
  expect(own.text).toContain('This is your own account.');
  for (const action of ['role', 'disable', 'reset']) {
    await browser.open('/console');
    const page = await browser.submit(`/console/accounts/kari.admin/${action}`, { role: 'view' });
    expect(page.text).toContain('Nothing was changed: this is your own account.');
  }
  const other = await signedIn('admin');
  for (const action of ['role', 'disable']) {
    await other.open('/console');
    const page = await other.submit(`/console/accounts/kari.admin/${action}`, { role: 'operate' });
    expect(page.text).toContain('Nothing was changed: no other enabled account is an admin.');
  }
  expect(await listOperators(db)).toMatchObject([{ name: 'kari.admin', role: 'admin', isDisabled: false }]);
});

test('of two admins who demote each other at the same time, one remains', async () => {
  const password = 'a long password';
  await Promise.all(['a', 'b'].map((name) => createOperator(db, keys, { name, role: 'admin', password })));
  const results = await Promise.all(
    ['a', 'b'].map((name) => changeRole(db, keys, { name, role: 'view', keepsAdmin: true })),
  );
  expect(results.sort()).toEqual(['done', 'last_admin']);
});

test('other roles see no accounts', async () => {
  await newOperator(gateway, 'ola', 'view');
  const operate = await signedIn('operate');
  expect((await operate.open('/console')).text).not.toContain('Accounts');
  for (const path of ['accounts', 'new-account', 'accounts/ola'])
    expect((await operate.open(`/console/${path}`)).status).toBe(403);
  for (const path of [
    'new-account',
    'end-sessions',
    ...['role', 'reset', 'disable'].map((it) => `accounts/ola/${it}`),
  ]) {
    await operate.open('/console');
    expect((await operate.submit(`/console/${path}`, { name: 'x', role: 'admin' })).status).toBe(403);
  }
});

test('a database that fails during a write gets a page that says so, and nothing is half done', async () => {
  const admin = await signedIn('admin');
  await newOperator(gateway, 'ola', 'view');
  const before = await listOperators(db);
  await sql`
    CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'`.execute(db);
  await sql`CREATE TRIGGER fails BEFORE INSERT ON operator_activity EXECUTE FUNCTION end_connection()`.execute(db);
  const writes = [
    ['new-account', { name: 'per', role: 'view' }],
    ['accounts/ola/role', { role: 'admin' }],
    ['accounts/ola/disable', {}],
    ['accounts/ola/reset', {}],
    [
      'new-webhook',
      { id: randomUUID(), client: gateway.credentials('everything').id, url: 'https://hooks.example.org' },
    ],
  ] as const;
  for (const [path, fields] of writes) {
    await admin.open('/console/accounts');
    const page = await admin.submit(`/console/${path}`, fields);
    expect([path, page.status, page.text]).toEqual([path, 503, expect.stringContaining('Database unavailable')]);
    expect(page.text).toContain('see whether it was made before you repeat it');
    expect(page.html).not.toMatch(/whsec_|otpauth/);
  }
  await sql`DROP TRIGGER fails ON operator_activity`.execute(db);
  expect(await listOperators(db)).toEqual(before);
  expect(await db.selectFrom('webhook_endpoints').select('id').execute()).toEqual([]);
});

test('no log line, table or entry of the activity list contains a secret', () => {
  expect(shown).toHaveLength(6);
  expect(stored.join()).toContain('$argon2id$');
  const texts = [...gateway.logLines, ...stored].join('\n');
  for (const secret of shown) expect(texts).not.toContain(secret);
});
