import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { errorFrom } from '../test-support.ts';
import { type EnvironmentVariables, readEnvironment } from './environment.ts';

const key = randomBytes(32);
const attempt = (variables: EnvironmentVariables) => errorFrom((async () => readEnvironment(variables))());

test('applies defaults to unset and empty variables', () => {
  const defaults = {
    host: '127.0.0.1',
    port: 8080,
    databaseUrl: undefined,
    databasePoolSize: undefined,
    workers: 1,
    configurationPath: undefined,
    dataDirectory: '.data',
    secretKey: undefined,
    previousSecretKeys: [],
    logLevel: 'info',
    logFormat: undefined,
    telemetry: undefined,
  };
  expect(readEnvironment({})).toEqual(defaults);
  expect(readEnvironment({ HOST: '', PORT: '', DATABASE_URL: '', CROSSWARD_CONFIG: '', LOG_LEVEL: '' })).toEqual(
    defaults,
  );
  expect(Object.isFrozen(readEnvironment({}))).toBe(true);
});

test.each(['base64', 'base64url', 'hex'] as const)('reads keys in %s and does not show them', (encoding) => {
  const environment = readEnvironment({
    CROSSWARD_CONFIG: 'crossward.yaml',
    CROSSWARD_SECRET_KEY: key.toString(encoding),
    CROSSWARD_PREVIOUS_SECRET_KEYS: `${key.toString('hex')}, ${key.toString('base64')}`,
    DATABASE_URL: 'postgresql://crossward:hunter2@localhost/crossward',
  });
  expect(environment.secretKey?.reveal()).toEqual(key);
  expect(environment.previousSecretKeys.map((previous) => previous.reveal())).toEqual([key, key]);
  expect(environment.databaseUrl?.reveal()).toContain('hunter2');
  const seen = inspect(environment, { depth: null, showHidden: true }) + JSON.stringify(environment);
  expect(seen).not.toContain('hunter2');
  expect(seen).not.toContain('Buffer');
});

test.each([
  ['1', 1],
  ['1000', 1000],
])('accepts pool size %s', (text, size) => {
  expect(readEnvironment({ DATABASE_POOL_SIZE: text }).databasePoolSize).toBe(size);
});

test.each(['0', '1001', '-1', '1.5', '07', 'many', ' 5'])('rejects pool size %j', async (text) => {
  const { message } = await attempt({ DATABASE_POOL_SIZE: text });
  expect(message).toBe(`DATABASE_POOL_SIZE: must be a whole number from 1 to 1000, not ${JSON.stringify(text)}`);
});

test.each(['0', '65', '-1', '1.5', 'auto', ' 2'])('rejects %j workers', async (text) => {
  const { message } = await attempt({ CROSSWARD_WORKERS: text, DATABASE_URL: 'postgresql://localhost/crossward' });
  expect(message).toBe(`CROSSWARD_WORKERS: must be a whole number from 1 to 64, not ${JSON.stringify(text)}`);
});

test('several workers need PostgreSQL', async () => {
  const DATABASE_URL = 'postgresql://localhost/crossward';
  expect(readEnvironment({ CROSSWARD_WORKERS: '4', DATABASE_URL }).workers).toBe(4);
  expect(readEnvironment({ CROSSWARD_WORKERS: '1' }).workers).toBe(1);
  expect((await attempt({ CROSSWARD_WORKERS: '2' })).message).toBe(
    'CROSSWARD_WORKERS: needs DATABASE_URL, because only one process can open the embedded database',
  );
});

test('reports every invalid variable, without secrets', async () => {
  const { message } = await attempt({
    PORT: '80a',
    DATABASE_URL: 'mysql://u:hunter2@localhost/db',
    DATABASE_POOL_SIZE: '0',
    CROSSWARD_CONFIG: 'crossward.yaml',
    CROSSWARD_SECRET_KEY: 'hunter2',
    CROSSWARD_PREVIOUS_SECRET_KEYS: `${key.toString('hex')},hunter2`,
    LOG_LEVEL: 'loud',
  });
  const form = '32 random bytes in base64 or hexadecimal; generate it with: openssl rand -base64 32';
  expect(message.split('\n')).toEqual([
    'PORT: must be a whole number from 0 to 65535, not "80a"',
    'DATABASE_URL: must be a URL that starts with postgres:// or postgresql://',
    'DATABASE_POOL_SIZE: must be a whole number from 1 to 1000, not "0"',
    `CROSSWARD_SECRET_KEY: must be ${form}`,
    `CROSSWARD_PREVIOUS_SECRET_KEYS: must be keys separated by commas, each ${form}`,
    'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
  ]);
});

test('a configuration needs a secret key', async () => {
  expect((await attempt({ CROSSWARD_CONFIG: 'crossward.yaml', CROSSWARD_SECRET_KEY: '' })).message).toBe(
    'CROSSWARD_SECRET_KEY: is not set but required with CROSSWARD_CONFIG: 32 random bytes in base64 or hexadecimal; generate it with: openssl rand -base64 32',
  );
});

test.each(['65536', '-1', '1.5', '1e3', ' 80', '0x50'])('rejects port %j', async (PORT) => {
  expect((await attempt({ PORT })).mistakes).toHaveLength(1);
});
test.each(['0', '1', '65535'])('accepts port %s', (PORT) => {
  expect(readEnvironment({ PORT }).port).toBe(Number(PORT));
});
