import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  newOperator,
  type TestOperator,
  withConsole,
} from '../../../../test/requests/console.ts';
import { tamper } from '../../audit/test-audit.ts';

const gateway = await startGateway({
  configure: (it) => ({ ...withConsole(it), http: { ...it.http, trusted_proxies: ['127.0.0.1'] } }),
});
afterAll(() => gateway.close());
const { db } = gateway.deps.services;
beforeEach(async () => {
  await sql`DELETE FROM failed_sign_ins`.execute(db);
});

const browserCookie = '__Host-crossward-browser';
const home = '198.51.100.7';
const attacker = '203.0.113.66';
const wrong = 'a wrong password';
let operators = 0;
const newOwner = () => newOperator(gateway, `owner-${++operators}`, 'view');

async function send(browser: ConsoleBrowser, from: string, name: string, password: string, code = '000000') {
  await browser.open('/console/sign-in');
  return browser.submit('/console/sign-in', { name, password, code }, { 'x-forwarded-for': from });
}

/** The status of a wrong sign-in. Each comes from a browser of its own. */
const guess = async (from: string, name: string) => (await send(consoleBrowser(gateway), from, name, wrong)).status;

/** Signs in with the right credentials, as often as is wanted: a code is accepted again. */
async function enter(owner: TestOperator, from: string, browser = consoleBrowser(gateway)): Promise<number> {
  await sql`UPDATE operators SET last_totp_step = NULL WHERE name = ${owner.name}`.execute(db);
  return (await send(browser, from, owner.name, owner.password, owner.totp.generate())).status;
}

/** Lets time pass: the pauses come nearer to their end. */
async function pass(seconds: number): Promise<void> {
  await sql`UPDATE failed_sign_ins SET paused_until = paused_until - make_interval(secs => ${seconds})`.execute(db);
}

/** Guesses until a pause of minutes begins. Returns the statuses of two failures and of an attempt in the pause. */
async function guessIntoPause(from: string, name: string, browser?: ConsoleBrowser): Promise<number[]> {
  const attempt = async () => (await send(browser ?? consoleBrowser(gateway), from, name, wrong)).status;
  const first = await attempt();
  await sql`UPDATE failed_sign_ins SET failures = 12`.execute(db);
  return [first, await attempt(), await attempt()];
}

test('an owner signs in from elsewhere, however often somebody guesses from one address', async () => {
  const owner = await newOwner();
  const entered: number[] = [];
  const guesses: number[] = [];
  await guessIntoPause(attacker, owner.name);
  for (let round = 0; round < 6; round++) {
    // Longer than the longest pause: the guesses come as soon as they count again.
    await pass(301);
    for (let count = 0; count < 2; count++) guesses.push(await guess(attacker, owner.name));
    entered.push(await enter(owner, home));
  }
  expect(entered).toEqual(Array.from({ length: 6 }, () => 200));
  // The attacker's own pauses go on: a sign-in of the owner does not end them.
  expect(guesses).toEqual(Array.from({ length: 6 }, () => [401, 429]).flat());
});

test('guesses from many addresses meet the ceiling of the account, which a browser that signed in before passes', async () => {
  const owner = await newOwner();
  const known = consoleBrowser(gateway);
  expect(await enter(owner, home, known)).toBe(200);
  await guess('192.0.2.1', owner.name);
  // 98 more from other addresses, which count for 36 seconds each. One is left.
  await sql`UPDATE failed_sign_ins SET paused_until = paused_until + make_interval(secs => 98 * 36)
    WHERE paused_until < now() - interval '1 minute'`.execute(db);
  expect(await guess('192.0.2.2', owner.name)).toBe(401);
  // As if this machine were faster, and more of them had come.
  await pass(-300);
  expect(await guess('192.0.2.3', owner.name)).toBe(429);
  const stranger = await send(consoleBrowser(gateway), home, owner.name, owner.password, owner.totp.generate());
  expect(stranger.status).toBe(429);
  expect(Number(stranger.headers['retry-after'])).toBeLessThanOrEqual(336);
  const entered: number[] = [];
  for (let round = 0; round < 6; round++) {
    await guess(`192.0.2.${round + 10}`, owner.name);
    entered.push(await enter(owner, `198.51.100.${round + 1}`, known));
  }
  expect(entered).toEqual(Array.from({ length: 6 }, () => 200));
  await pass(336);
  expect(await enter(owner, home)).toBe(200);
});

test('guesses from the owner’s own address do not stop a browser that signed in before', async () => {
  const owner = await newOwner();
  const known = consoleBrowser(gateway);
  await enter(owner, home, known);
  await guessIntoPause(home, owner.name);
  expect(await enter(owner, home)).toBe(429);
  expect(await enter(owner, home, known)).toBe(200);
});

test('unknown names do not count against others at their address', async () => {
  const owner = await newOwner();
  for (let count = 0; count < 25; count++) await guess(home, `nobody-${count}`);
  expect(await enter(owner, home)).toBe(200);
});

test('an unknown name gets the same pauses as a known one', async () => {
  const owner = await newOwner();
  expect(await guessIntoPause(attacker, 'nobody-at-all')).toEqual([401, 401, 429]);
  expect(await guessIntoPause(attacker, owner.name)).toEqual([401, 401, 429]);
});

test('the cookie of a known browser is for its accounts only, counts failures too, and cannot be made', async () => {
  const [owner, other] = [await newOwner(), await newOwner()];
  const browser = consoleBrowser(gateway);
  await enter(owner, home, browser);
  await guessIntoPause(home, other.name);
  expect(await enter(other, home, browser)).toBe(429);
  await pass(301);
  expect(await enter(other, home, browser)).toBe(200);

  // Both accounts are known now, each with a count of its own.
  expect(await guessIntoPause(home, owner.name, browser)).toEqual([401, 401, 429]);
  expect(await enter(other, home, browser)).toBe(200);

  const cookie = browser.cookies.get(browserCookie) ?? '';
  await guessIntoPause(home, other.name);
  const forged = consoleBrowser(gateway);
  forged.cookies.set(browserCookie, `${cookie.slice(0, 40)}${cookie[40] === 'A' ? 'B' : 'A'}${cookie.slice(41)}`);
  expect(await enter(other, home, forged)).toBe(429);
  expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain(owner.name);
});

test('the cookie of a known browser lasts 90 days, beyond the sign-out', async () => {
  const owner = await newOwner();
  const browser = consoleBrowser(gateway);
  const form = await browser.open('/console/sign-in');
  const response = await browser.send('POST', '/console/sign-in', {
    body: new URLSearchParams({
      form_token: /name="form_token" value="([^"]+)"/.exec(form.html)?.[1] ?? '',
      name: owner.name,
      password: owner.password,
      code: owner.code(),
    }).toString(),
  });
  expect(response.headers['set-cookie']).toContainEqual(
    expect.stringMatching(
      /^__Host-crossward-browser=[\w-]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
  );
  await browser.open('/console');
  await browser.submit('/console/sign-out');
  expect(browser.cookies.get(browserCookie)).toBeDefined();
});

test('a failed sign-in leaves its address, and the name only if an account has it, in activity, log and metric', async () => {
  const owner = await newOwner();
  await tamper(db, (tx) => sql`DELETE FROM operator_activity`.execute(tx));
  const read = async () => (await gateway.request('GET', '/metrics', { client: null })).text;
  const count = (text: string, labels: string) =>
    Number(new RegExp(`crossward_console_sign_ins_total\\{${labels}\\} (\\d+)`).exec(text)?.[1] ?? 0);
  const before = await read();
  const lines = gateway.logLines.length;
  await guessIntoPause(attacker, owner.name);
  for (let index = 0; index < 3; index++) await guess(attacker, `kanari-password-${index}`);
  const after = await read();
  const grown = (labels: string) => count(after, labels) - count(before, labels);
  expect(grown('outcome="rejected",name="known"')).toBe(2);
  expect(grown('outcome="throttled",name="known"')).toBe(1);
  expect(grown('outcome="rejected",name="unknown"')).toBe(3);

  const { rows } = await sql<{ entry: string }>`
    SELECT operator_name || ' ' || target || ' ' || outcome AS entry FROM operator_activity ORDER BY id`.execute(db);
  const known = Array.from({ length: 2 }, () => `${owner.name} ${attacker} rejected`);
  // One entry an hour for each address with unknown names, so that they cannot fill the list.
  expect(rows.map(({ entry }) => entry)).toEqual([...known, `unknown name ${attacker} rejected`]);

  const logged = gateway.logLines.slice(lines).map((line) => JSON.parse(line));
  const failures = logged.filter(({ msg }) => msg === 'sign-in failed');
  expect(failures).toHaveLength(6);
  expect(failures[0]).toMatchObject({ address: attacker, outcome: 'rejected', is_account: true, operator: owner.name });
  expect(failures[2]).toMatchObject({ address: attacker, outcome: 'throttled', is_account: true });
  expect(failures[5]).toMatchObject({ address: attacker, outcome: 'rejected', is_account: false });
  expect(gateway.logLines.slice(lines).join('')).not.toContain('kanari-password');
});
