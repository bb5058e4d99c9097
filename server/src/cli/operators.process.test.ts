import { randomBytes } from 'node:crypto';
import { URI } from 'otpauth';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { startSession } from '../console/sign-in/sessions.ts';
import { createDb } from '../db/kysely.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { crossward } from './test-support.ts';

const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const key = randomBytes(32);
await requireKnownKeys(createDb(database), [key]);
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', key.toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const uriIn = (text: string) => /^otpauth:\S+$/m.exec(text)?.[0] ?? '';

test('an account is created, listed, changed, disabled and reset, and its URI is printed once each time', async () => {
  const created = await crossward('operators create kari --role operate', 'a long password\n');
  expect(created.code).toBe(0);
  expect(URI.parse(uriIn(created.stdout))).toMatchObject({ issuer: 'Crossward', label: 'kari', period: 30, digits: 6 });
  expect(created.stdout + created.stderr).not.toContain('a long password');

  const again = await crossward('operators create kari --role view', 'a long password\n');
  expect([again.code, again.stdout, again.stderr]).toEqual([1, '', expect.stringContaining('The name kari is taken')]);
  const { stdout: list } = await crossward('operators list');
  expect(list).toMatch(/^kari {2}operate {2}enabled {2}one-time codes {2}created \S+\n$/);
  expect(await crossward('operators role kari --role view')).toMatchObject({ code: 0 });
  expect(await crossward('operators role ola --role view')).toMatchObject({ code: 1 });
  expect((await crossward('operators list')).stdout).toMatch(/^kari {2}view /);
  expect(await crossward('operators disable kari')).toMatchObject({ code: 0 });
  expect(await crossward('operators disable kari')).toMatchObject({ code: 1 });
  expect((await crossward('operators list')).stdout).toContain('disabled');

  const reset = await crossward('operators reset kari', 'another password\n');
  expect(reset.code).toBe(0);
  expect(uriIn(reset.stdout)).not.toBe(uriIn(created.stdout));
  expect((await crossward('operators list')).stdout).toContain('enabled');
  expect(await crossward('operators reset ola', 'another password\n')).toMatchObject({ code: 1 });
});

test('accounts and sessions are listed as JSON', async () => {
  await crossward('operators create json --role view', 'a long password\n');
  const db = createDb(database);
  const { id } = await db.selectFrom('operators').select('id').where('name', '=', 'json').executeTakeFirstOrThrow();
  await startSession(db, createKeyRing([key]), { operatorId: id, name: 'json', role: 'view', hours: 12 });
  const ofJson = async (words: string) => {
    const found: { name: string }[] = JSON.parse((await crossward(words)).stdout);
    return found.filter(({ name }) => name === 'json');
  };
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await ofJson('operators list --json')).toEqual([
    { id, name: 'json', role: 'view', has_totp: true, is_disabled: false, created_at: time, last_sign_in_at: null },
  ]);
  expect(await ofJson('operators sessions --json')).toEqual([
    { name: 'json', has_account: true, role: 'view', started_at: time, last_used_at: time, expires_at: time },
  ]);
  expect(await crossward('operators end-sessions json')).toMatchObject({ code: 0 });
});

test('sessions are listed and ended, also those of operators by OpenID Connect', async () => {
  const db = createDb(database);
  await crossward('operators create per --role view', 'a long password\n');
  const { id } = await db.selectFrom('operators').select('id').where('name', '=', 'per').executeTakeFirstOrThrow();
  for (const [operatorId, name] of [
    [id, 'per'],
    [id, 'per'],
    [null, 'oidc:per'],
  ] as const) {
    await startSession(db, createKeyRing([key]), { operatorId, name, role: 'view', hours: 12 });
  }
  const { stdout: list } = await crossward('operators sessions');
  expect(list).toMatch(
    /^oidc:per {2}view {2}since \S+ {2}last request \S+ {2}ends by \S+\nper {2}view .*\nper {2}view .*\n$/,
  );
  expect(await crossward('operators end-sessions per')).toMatchObject({ code: 0, stdout: '2 sessions have ended.\n' });
  expect(await crossward('operators end-sessions per')).toMatchObject({ code: 0, stdout: '0 sessions have ended.\n' });
  expect((await crossward('operators sessions')).stdout).toMatch(/^oidc:per .*\n$/);
  expect(await crossward('operators end-sessions oidc:per')).toMatchObject({
    code: 0,
    stdout: '1 session has ended.\n',
  });
  const unknown = await crossward('operators end-sessions oidc:per');
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('No account and no session has this name.'),
  ]);
  expect((await crossward('operators sessions')).stdout).toBe('No sessions.\n');
});

test('a short password, and a secret key that the gateway does not use, are rejected', async () => {
  const short = await crossward('operators create ola --role view', 'short\n');
  expect([short.code, short.stderr]).toEqual([2, 'A password has 12 to 200 characters; this one has 5.\n']);
  vi.stubEnv('CROSSWARD_SECRET_KEY', randomBytes(32).toString('base64'));
  const other = await crossward('operators create ola --role view', 'a long password\n');
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('The gateway uses the secret key')]);
  vi.stubEnv('CROSSWARD_SECRET_KEY', '');
  vi.stubEnv('CROSSWARD_DATA_DIR', '/nowhere');
  const none = await crossward('operators create ola --role view', 'a long password\n');
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('CROSSWARD_SECRET_KEY is not set')]);
  expect((await crossward('operators list')).stdout).not.toContain('ola');
});

test('a link for a first session is printed alone, for an account that exists or is created with it', async () => {
  const missing = await crossward('operators sign-in-link nobody');
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--role creates one') });
  const { code, stdout, stderr } = await crossward('operators sign-in-link first.admin --role admin');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/localhost:\d+\/console\/sign-in\/link\/[\w-]{43}\n$/),
  ]);
  expect(stderr).toContain('within 5 minutes');
  expect((await crossward('operators list')).stdout).toMatch(/^first\.admin {2}admin {2}enabled {2}no one-time codes/m);
  await crossward('operators disable first.admin');
  expect(await crossward('operators sign-in-link first.admin')).toMatchObject({ code: 1, stdout: '' });
});
