import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { clientSecret, errorFrom, load, mistakesIn, rightFile } from '../test-support.ts';
import { Secret } from './secret.ts';

test('a secret is shown only by reveal', () => {
  const secret = new Secret('hunter2');
  expect(secret.reveal()).toBe('hunter2');
  expect([
    `${secret}`,
    secret.toString(),
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true }),
  ]).toEqual(['[secret]', '[secret]', '{"secret":"[secret]"}', '{ secret: [secret] }']);
});

test('reports missing variables and secrets that are too short', async () => {
  const line = 'crossward.yaml:13:22: clients[0].secrets[0].env: ';
  expect(await mistakesIn(rightFile, { ACME_CLIENT_SECRET: '' })).toEqual([
    `${line}the environment variable ACME_CLIENT_SECRET is empty`,
  ]);
  expect(await mistakesIn(rightFile, { ACME_CLIENT_SECRET: clientSecret.slice(0, 31) })).toEqual([
    `${line}the secret in this environment variable has fewer than 32 characters; generate one with: openssl rand -base64 32`,
  ]);
  expect(await mistakesIn(rightFile.replace('ACME_CLIENT_SECRET', 'toString'))).toEqual([
    `${line}the environment variable toString is not set`,
  ]);
});

const whole = 'must be { sha256: HASH } or { env: NAME }; never write the secret itself in this file';
const reference = 'must be { env: NAME }: the name of an environment variable, never the secret itself';

test.each([
  ['[hunter2]', `13:15: clients[0].secrets[0]: ${whole}`],
  ['[{ hunter2 }]', `13:15: clients[0].secrets[0]: ${whole}`],
  ['[{ secret: hunter2 }]', `13:15: clients[0].secrets[0]: ${whole}`],
  ['[{ sha256: hunter2, env: A }]', `13:15: clients[0].secrets[0]: ${whole}`],
  [
    '[{ sha256: hunter2 }]',
    '13:25: clients[0].secrets[0].sha256: must be a SHA-256 hash: 64 hexadecimal digits, in quotes',
  ],
  ['[{ sha256: 12 }]', '13:25: clients[0].secrets[0].sha256: must be text: put it in quotes'],
  ['[{ env: "hunter2!" }]', `13:22: clients[0].secrets[0].env: ${reference}`],
  ['[*hunter2]', '13:15: unknown alias; put text that starts with * in quotes'],
  ['[!hunter2 x]', '13:15: unknown tag, or the value does not match its tag'],
  ['[{ hunter2: 1, hunter2: 2 }]', '13:29: this key is repeated in the same mapping'],
  ['[@hunter2]', '13:15: text that starts with this character must be in quotes'],
])('reports the position of a secret in the file without quoting it: %s', async (secrets, line) => {
  const error = await errorFrom(load(rightFile.replace('[{ env: ACME_CLIENT_SECRET }]', secrets)));
  expect(error.message).not.toContain('hunter2');
  expect(error.message.slice(error.message.indexOf('crossward.yaml'))).toBe(`crossward.yaml:${line}`);
});

test.each(['hunter2', '{ hunter2 }', '[hunter2]'])('does not quote a password: %s', async (password) => {
  const sms = `messages:\n  sms: { provider: 46elks, username: u, password: ${password}, from: Clinic }\n`;
  expect(await mistakesIn(rightFile + sms)).toEqual([`crossward.yaml:18:51: messages.sms.password: ${reference}`]);
});
