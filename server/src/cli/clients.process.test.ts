import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import { createClientRegistry } from '../clients/client-registry.ts';
import { readClients } from '../clients/read-clients.ts';
import { listActivity } from '../console/audit/activity.ts';
import { createDb } from '../db/kysely.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { crossward } from './test-support.ts';

const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_CONFIG', '');
  vi.stubEnv('CROSSWARD_SECRET_KEY', key.toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});
const db = createDb(database);
const key = randomBytes(32);
const keys = createKeyRing([key]);
await requireKnownKeys(db, [key]);
const emrs = [{ id: 'sandbox-no', name: 'Norway', care_units: [{ id: 'oslo-sentrum', name: 'Oslo' }] }];

/** Whether gateways accept a secret. */
async function isValid(id: string, secret: string): Promise<boolean> {
  const registry = createClientRegistry({
    configured: { emrs, clients: [] },
    read: (known) => readClients(db, keys, known),
  });
  await registry.refresh();
  return registry.authenticate(id, secret.trim()) !== undefined;
}

test('a client is created, listed, shown, changed, rotated and revoked, and each secret is printed once', async () => {
  const created = await crossward(
    'clients create site --name Site --scope patients:read --scope notes:read --grant sandbox-no --grant sandbox-se:lund,sodermalm --return-url https://example.org',
  );
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^[\w-]{43}\n$/)]);
  expect(created.stderr).toContain('Its secret is not shown again');
  expect(await isValid('site', created.stdout)).toBe(true);

  expect((await crossward('clients list')).stdout.split('\n')).toEqual([
    'demo  configuration file  active  EHRs sandbox-no,sandbox-se,sandbox-uk  scopes 12',
    'site  operators  active  EHRs sandbox-no,sandbox-se  scopes 2  rotated never',
    '',
  ]);
  expect((await crossward('clients update site --name Portal --scope documents:read --no-return-url')).code).toBe(0);
  const { stdout: shown } = await crossward('clients show site');
  expect(shown).toContain('name:            Portal\n');
  expect(shown).toContain('scopes:          documents:read\n');
  expect(shown).toContain('grant:           sandbox-no: all care units\n');
  expect(shown).toContain('grant:           sandbox-se: lund, sodermalm\n');
  expect(shown).not.toMatch(/return URL|[0-9a-f]{64}/);

  const rotated = await crossward('clients rotate site --overlap-hours 1');
  expect(await Promise.all([created.stdout, rotated.stdout].map((it) => isValid('site', it)))).toEqual([true, true]);
  const again = await crossward('clients rotate site --overlap-hours 0');
  expect(await Promise.all([rotated.stdout, again.stdout].map((it) => isValid('site', it)))).toEqual([false, true]);

  expect(await crossward('clients revoke site')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(await isValid('site', again.stdout)).toBe(true);
  expect(await crossward('clients revoke site --yes')).toMatchObject({ code: 0 });
  expect(await isValid('site', again.stdout)).toBe(false);
  expect((await crossward('clients list')).stdout).toMatch(
    /^site {2}operators {2}revoked {2}.* {2}rotated \d{4}-\S+Z {2}all secrets ended \d{4}-\S+Z$/m,
  );
  const { stdout: revoked } = await crossward('clients show site');
  expect(revoked).toMatch(/^last rotation: {3}\d{4}-\S+Z$/m);
  expect(revoked).toMatch(/^revoked: {9}\d{4}-\S+Z, all secrets ended$/m);
  expect(revoked).not.toMatch(/^(previous )?secret:/m);
  expect(
    (await listActivity(db, 9)).map(({ operator, action, outcome }) => `${operator}: ${action} ${outcome}`),
  ).toEqual([
    'command line: client_revoke done',
    'command line: client_rotate done',
    'command line: client_rotate done',
    'command line: client_update done',
    'command line: client_create done',
  ]);
});

test('the clients of a configuration file are listed without its secrets, and cannot be changed', async () => {
  await crossward('clients create moved --scope notes:read --grant sandbox-no');
  const path = join(inject('runFolder'), 'clients.yaml');
  await writeFile(
    path,
    `emrs:
  - { id: clinic, name: Clinic, connector: sandbox, settings: { country: "NO" }, care_units: [
      { id: ward, name: Ward, time_zone: Europe/Oslo, language: nb }] }
clients:
  - { id: app, secrets: [{ env: NOT_SET }], scopes: [notes:read], grants: [{ emr: clinic }] }
`,
  );
  expect((await crossward(`clients show app --config ${path}`)).stdout).toContain('grant:           clinic: ward\n');
  vi.stubEnv('CROSSWARD_CONFIG', path);
  expect((await crossward('clients list')).stdout).toContain(
    'app  configuration file  active  EHRs clinic  scopes 1\nmoved  operators  active  EHRs sandbox-no (EHR not in the configuration)',
  );
  expect(await crossward('clients rotate app')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('It can only be changed there.'),
  });
});

test('clients are listed as JSON, and a stored one that the file overrides can be revoked', async () => {
  expect((await crossward('clients create later --scope notes:read --grant sandbox-no')).code).toBe(0);
  expect((await crossward('clients rotate later')).code).toBe(0);
  const path = join(inject('runFolder'), 'overriding.yaml');
  await writeFile(
    path,
    `emrs:
  - { id: clinic, name: Clinic, connector: sandbox, settings: { country: "NO" }, care_units: [
      { id: ward, name: Ward, time_zone: Europe/Oslo, language: nb }] }
clients:
  - { id: later, secrets: [{ env: NOT_SET }], scopes: [notes:read], grants: [{ emr: clinic }] }
`,
  );
  vi.stubEnv('CROSSWARD_CONFIG', path);
  const listed = async () => {
    const found: { id: string }[] = JSON.parse((await crossward('clients list --json')).stdout);
    return found.filter(({ id }) => id === 'later');
  };
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await listed()).toEqual([
    {
      id: 'later',
      name: 'later',
      source: 'configuration_file',
      state: 'active',
      scopes: ['notes:read'],
      grants: [{ emr: 'clinic', care_units: ['ward'], not_configured: [] }],
      return_urls: [],
      budgets: {},
      jwks_uri: null,
      key_ids: [],
      secrets: [],
      rotated_at: null,
      created_at: null,
      revoked_at: null,
    },
    {
      id: 'later',
      name: 'later',
      source: 'operators',
      state: 'overridden',
      scopes: ['notes:read'],
      grants: [{ emr: 'sandbox-no', care_units: null, not_configured: ['sandbox-no'] }],
      return_urls: [],
      budgets: {},
      jwks_uri: null,
      key_ids: [],
      secrets: [
        { created_at: time, expires_at: null },
        { created_at: time, expires_at: time },
      ],
      rotated_at: time,
      created_at: time,
      revoked_at: null,
    },
  ]);
  expect((await crossward('clients show later')).stdout).toContain('state:           overridden\n');
  expect(await crossward('clients revoke later --yes')).toMatchObject({
    code: 0,
    stdout: 'The stored client later is revoked. The client of the configuration file with this id stays in effect.\n',
  });
  expect(await listed()).toMatchObject([
    { state: 'active' },
    { state: 'revoked', secrets: [], rotated_at: time, revoked_at: time },
  ]);
  await db.updateTable('clients').set({ secret_created_at: null }).where('id', '=', 'later').execute();
  expect((await crossward('clients list')).stdout).toContain('  rotated not known  all secrets ended ');
  expect((await crossward('clients revoke later --yes')).stderr).toContain('It can only be changed there.');
});

test.each([
  ['create demo --scope notes:read --grant sandbox-no', 1, 'The configuration file has a client with this id.'],
  ['create other --scope notes:reed', 2, '--scope: "notes:reed" is unknown; must be one of appointments:read'],
  ['create other --scope notes:reed', 2, '; did you mean "notes:read"?'],
  ['update site --scope webhooks:read', 2, '; did you mean "webhooks:manage"?'],
  ['create other --scope notes:read', 2, '--grant: must have at least one entry'],
  ['create other --scope notes:read --grant sandbox', 2, 'which has sandbox-no, sandbox-se, sandbox-uk'],
  ['create other --scope notes:read --grant sandbox-no:', 2, '--grant: must be'],
  ['update nobody', 2, 'Give at least one option'],
  ['update nobody --name Site', 1, 'No client has this id.'],
  ['rotate nobody --overlap-hours soon', 2, '--overlap-hours must be a whole number from 0 to 720'],
  ['rotate nobody', 1, 'No client has this id.'],
  ['show nobody', 1, 'No client has this id.'],
])('%s exits with %i and says why', async (words, code, text) => {
  const result = await crossward(`clients ${words}`);
  expect([result.code, result.stdout, result.stderr]).toEqual([code, '', expect.stringContaining(text)]);
});

test.each(['before', 'after'] as const)(
  'a rotation whose connection breaks %s COMMIT can be repeated, and ends no secret',
  async (kind) => {
    const id = `rotate-${kind}`;
    const created = await crossward(`clients create ${id} --scope patients:read --grant sandbox-no:oslo-sentrum`);
    const proxy = await startPostgresProxy(url ?? '');
    onTestFinished(() => proxy.close());
    vi.stubEnv('DATABASE_URL', proxy.url);
    const failed = proxy.cutNext({ kind });
    expect(await crossward(`clients rotate ${id}`)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The outcome is unknown'),
    });
    await failed.settled;
    const rotated = await crossward(`clients rotate ${id}`);
    expect(rotated.code).toBe(0);
    const registry = createClientRegistry({
      configured: { emrs: [], clients: [] },
      read: (known) => readClients(db, keys, known),
    });
    await registry.refresh();
    for (const { stdout } of [created, rotated]) expect(registry.authenticate(id, stdout.trim())?.id).toBe(id);
  },
);

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a change whose connection breaks %s COMMIT is told as unknown', async (kind, made) => {
  const proxy = await startPostgresProxy(url ?? '');
  onTestFinished(() => proxy.close());
  vi.stubEnv('DATABASE_URL', proxy.url);
  const failed = proxy.cutNext({ kind });
  const id = `cut-${kind}`;
  const { code, stdout, stderr } = await crossward(
    `clients create ${id} --scope patients:read --grant sandbox-no:oslo-sentrum`,
  );
  await failed.settled;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('The outcome is unknown');
  expect(await db.selectFrom('clients').select('id').where('id', '=', id).execute()).toHaveLength(made);
});

test('a client with a public key gets no secret, and a private key is refused without its value', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const fileOf = async (name: string, content: string) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const jwk = privateKey.export({ format: 'jwk' });
  const common = 'clients create signer --scope notes:read --grant sandbox-no --jwks';
  for (const [name, content] of [
    ['private.json', JSON.stringify({ ...jwk, kid: 'a' })],
    ['private.pem', String(privateKey.export({ format: 'pem', type: 'pkcs8' }))],
    ['set.json', JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }) }] })],
  ] as const) {
    const refused = await crossward(`${common} ${await fileOf(name, content)}`);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--jwks: ') });
    expect(refused.stderr).not.toContain(jwk.d);
  }
  const key = await fileOf('public.json', JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'a' }));
  expect(await crossward(`${common} ${key} --budget sms_per_day=5`)).toMatchObject({ code: 0 });
  const { stdout } = await crossward('clients show signer');
  expect(stdout).toContain('key ids:         a\n');
  expect(stdout).toContain('budget:          sms_per_day 5\n');
  expect(stdout).not.toContain('secret:');
  expect(await crossward('clients update signer --no-keys')).toMatchObject({ code: 1 });
  expect(await crossward('clients update signer --budget sms=5')).toMatchObject({ code: 2 });
  expect((await crossward('clients update signer --jwks-uri https://app.example/jwks')).code).toBe(0);
  expect((await crossward('clients show signer')).stdout).toContain('JWKS URI:        https://app.example/jwks\n');
});
