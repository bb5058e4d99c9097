/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { rowsOf } from '../../../../test/requests/codes.ts';
import { consoleBrowser, newOperator, withConsole } from '../../../../test/requests/console.ts';
import { createDb } from '../../db/kysely.ts';
import { disableOperator, resetOperator } from '../accounts/operators.ts';
import { makeSignInLink } from './sign-in-links.ts';

const gateway = await startGateway({ logLevel: 'trace', configure: (it) => withConsole(it) });
afterAll(() => gateway.close());
const db = createDb(gateway.database);
const { keys } = gateway.deps.services;

async function linkOf(name: string, role?: 'admin' | 'view'): Promise<string> {
  const link = await makeSignInLink(db, keys, { name, role });
  if (typeof link === 'string') throw new Error(link);
  return link.token;
}

async function follow(token: string) {
  const browser = consoleBrowser(gateway);
  const asked = await browser.open(`/console/sign-in/link/${token}`);
  return { asked, shown: await browser.submit('/console/sign-in/link'), browser };
}

test('a link of the command line opens the first session, without a password, and works once', async () => {
  const token = await linkOf('first.admin', 'admin');
  const { asked, shown, browser } = await follow(token);
  // Looking at it does not use it up.
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Sign in by link')]);
  expect([shown.status, shown.path]).toEqual([200, '/console']);
  expect(shown.text).toContain('first.admin (admin)');
  const activity = await browser.open('/console/activity');
  expect(activity.text).toMatch(/ first\.admin sign in 127\.0\.0\.1 done/);
  expect(activity.text).toMatch(/ command line sign in link first\.admin done/);
  const again = await follow(token);
  expect([again.shown.status, again.shown.text]).toEqual([401, expect.stringContaining('You are not signed in')]);
  expect(gateway.logLines.join('')).not.toContain(token);
  const stored = await rowsOf(gateway, 'SELECT * FROM operator_sign_in_links');
  expect(JSON.stringify(stored)).not.toContain(token);
});

test('of two browsers that use a link at once, one is signed in', async () => {
  const token = await linkOf('first.admin');
  const both = await Promise.all([follow(token), follow(token)]);
  expect(both.map(({ shown }) => shown.status).sort()).toEqual([200, 401]);
});

test('a link that has expired, or whose account is disabled, signs nobody in', async () => {
  const late = await linkOf('late', 'view');
  await rowsOf(gateway, "UPDATE operator_sign_in_links SET expires_at = expires_at - interval '301 seconds'");
  expect((await follow(late)).shown.status).toBe(401);
  const token = await linkOf('late');
  await disableOperator(db, keys, { name: 'late' });
  expect((await follow(token)).shown.status).toBe(401);
  expect((await follow('kanari')).shown.status).toBe(401);
  expect(await makeSignInLink(db, keys, { name: 'late' })).toBe('disabled');
  expect(await makeSignInLink(db, keys, { name: 'nobody' })).toBe('unknown');
});

test.each([
  ['disabled and reset', true],
  ['reset', false],
])('an account that is %s has no link from before', async (name, isDisabled) => {
  const account = name.replaceAll(' ', '-');
  const token = await linkOf(account, 'view');
  if (isDisabled) await disableOperator(db, keys, { name: account });
  await resetOperator(db, keys, { name: account, password: 'a new password of this account' });
  expect((await follow(token)).shown.status).toBe(401);
});

test('an account has its password as before, and one without a password has none that works', async () => {
  const operator = await newOperator(gateway, 'kari', 'view');
  await follow(await linkOf('kari'));
  expect((await consoleBrowser(gateway).signIn(operator)).path).toBe('/console');
  const wrong = await consoleBrowser(gateway).signIn({ ...operator, name: 'first.admin' });
  expect(wrong.status).toBe(401);
});
