/** @module-tag any-database */
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { consoleBrowser, consoleUrl, withConsole } from '../../../../test/requests/console.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { formToken } from './sessions.ts';
import { client, startProvider } from './test-provider.ts';

const provider = await startProvider(`${consoleUrl}/console/sign-in/oidc/callback`);
const gateway = await startGateway({
  logLevel: 'trace',
  configure: (demo) => ({
    ...withConsole(demo),
    console: resolveConsole(
      {
        url: consoleUrl,
        oidc: {
          issuer: provider.issuer,
          client_id: client.id,
          client_secret: { env: 'CLIENT_SECRET' },
          role_claim: 'groups',
          roles: { view: ['staff'], admin: ['admins'] },
        },
      },
      { CLIENT_SECRET: client.secret },
    ),
  }),
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});
beforeEach(() => {
  provider.account = 'Ola staff';
  provider.forge = undefined;
});

/** Begins a sign-in. Returns the URL of the provider. */
async function begin(browser: ReturnType<typeof consoleBrowser>, query = ''): Promise<string> {
  const { status, headers } = await browser.send('GET', `/console/sign-in/oidc${query}`);
  expect(status).toBe(303);
  return headers.location ?? '';
}

const pathOf = ({ pathname, search }: URL) => pathname + search;

test('an operator signs in at the provider, with the role of a group', async () => {
  const browser = consoleBrowser(gateway);
  const form = await browser.open('/console/activity');
  expect(form.html).toContain('href="../console/sign-in/oidc?next=activity"');
  expect(form.html).not.toContain('type="password"');

  const url = await begin(browser, '?next=activity');
  const { searchParams } = new URL(url);
  expect(Object.fromEntries(searchParams)).toMatchObject({ code_challenge_method: 'S256', scope: 'openid profile' });
  for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
  const page = await browser.open(pathOf(await provider.signIn(url)));
  expect(page.path).toBe('/console/activity');
  expect(page.text).toMatch(/ oidc:Ola staff \(view\)/);
  expect(page.text).toMatch(/ oidc:Ola staff sign in 127.0.0.1 done/);
  expect([...browser.cookies.keys()]).toEqual(['__Host-crossward-console']);

  provider.account = 'Kari staff admins';
  const other = consoleBrowser(gateway);
  const { text } = await other.open(pathOf(await provider.signIn(await begin(other))));
  expect(text).toContain(' oidc:Kari staff admins (admin)');
});

test('an operator without a role is told so, and gets no session', async () => {
  provider.account = 'Per visitors';
  const browser = consoleBrowser(gateway);
  const page = await browser.open(pathOf(await provider.signIn(await begin(browser))));
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('gives you no role in this console')]);
  expect((await browser.open('/console')).path).toBe('/console/sign-in');
});

test('a callback is accepted once, in the browser that began, and with its own state', async () => {
  const browser = consoleBrowser(gateway);
  const callback = pathOf(await provider.signIn(await begin(browser)));
  const stranger = await consoleBrowser(gateway).open(callback);
  expect([stranger.status, stranger.text]).toEqual([400, expect.stringContaining('started in another browser')]);
  const forged = await browser.open(callback.replace(/state=[^&]+/, 'state=forged'));
  expect([forged.status, forged.text]).toEqual([502, expect.stringContaining('could not confirm the sign-in')]);
  expect((await browser.open(callback)).text).toContain('Overview');
  expect((await browser.open(callback)).status).toBe(400);
});

/** A token that says the same, signed with another key under the name of that of the provider. */
async function signedByOther(token: string): Promise<string> {
  const { alg = '', kid } = decodeProtectedHeader(token);
  const { privateKey } = await generateKeyPair(alg);
  return new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .sign(privateKey);
}

/** Other claims with the signature of the provider. */
function withOtherName(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = { ...decodeJwt(token), preferred_username: 'Kari staff admins' };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

test.each([
  ['by another key', signedByOther],
  ['for other claims', withOtherName],
  ['not at all', (token: string) => new UnsecuredJWT(decodeJwt(token)).encode()],
])('an ID token that is signed %s signs nobody in', async (_, forge) => {
  const browser = consoleBrowser(gateway);
  const callback = pathOf(await provider.signIn(await begin(browser)));
  provider.forge = forge;
  const page = await browser.open(callback);
  expect([page.status, page.text]).toEqual([502, expect.stringContaining('could not confirm the sign-in')]);
  expect((await browser.open('/console')).path).toBe('/console/sign-in');
});

test('a sign-in that the provider rejects is explained', async () => {
  provider.account = undefined;
  const browser = consoleBrowser(gateway);
  const page = await browser.open(pathOf(await provider.signIn(await begin(browser))));
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('The provider rejected the sign-in.')]);
});

test('a database that fails during the sign-in is not taken for a failure of the provider', async () => {
  const browser = consoleBrowser(gateway);
  const callback = pathOf(await provider.signIn(await begin(browser)));
  const { db } = gateway.deps.services;
  await sql`
    CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'`.execute(db);
  await sql`CREATE TRIGGER fails BEFORE INSERT ON operator_sessions EXECUTE FUNCTION end_connection()`.execute(db);
  const page = await browser.open(callback);
  await sql`DROP TRIGGER fails ON operator_sessions`.execute(db);
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('Database unavailable')]);
});

test('accounts of the gateway cannot sign in if they are turned off', async () => {
  const browser = consoleBrowser(gateway);
  await browser.open('/console/sign-in');
  const form_token = formToken(browser.cookies.get('__Host-crossward-sign-in') ?? '');
  const page = await browser.submit('/console/sign-in', { form_token, name: 'kari', password: 'a long password' });
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('Accounts are turned off.')]);
});

test.each([
  ['/%63onsole', {}, 404],
  ['/c%6Fnsole/sign-in', { accept: 'text/html' }, 404],
  ['/console/sign-in', { host: 'a b' }, 400],
  [`/console/sign-in?next=${'x'.repeat(9_000)}`, {}, 414],
])('a request that is refused before its page begins is no error: %s', async (path, headers, status) => {
  const response = await gateway.request('GET', path, {
    client: null,
    headers: { ...headers } as Record<string, string>,
  });
  expect(response.status).toBe(status);
});

test('neither secret nor code nor token is in the log', () => {
  const log = gateway.logLines.join('\n');
  expect(log).not.toMatch(/kanari|code=|state=|__Host-/);
});
