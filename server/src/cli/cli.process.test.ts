import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from '@crossward/connector-kit/conformance';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { insertFailedMessage, insertWrite } from '../../../test/database/stuck-rows.ts';
import { createDb } from '../db/kysely.ts';
import { publishEvents } from '../events/publish-events.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing, keyIdentity } from '../secrets/key-ring.ts';
import { insertEndpoint } from '../webhooks/endpoint-store.ts';
import { fanOut } from '../webhooks/fan-out.ts';
import { makeSecret } from '../webhooks/signing.ts';
import { crossward } from './test-support.ts';

const launcher = fileURLToPath(new URL('./crossward.js', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'crossward-cli-'));
const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_DATA_DIR', folder);
  vi.stubEnv('CROSSWARD_CONFIG', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ['--help', 0],
  ['conformance --emr nowhere', 2],
])('the installed program returns the exit code of its command: %s', async (words, code) => {
  const child = execFile(process.execPath, [launcher, ...words.split(' ')]);
  await once(child, 'exit');
  expect(child.exitCode).toBe(code);
});

describe('usage', () => {
  test.each([
    '--help',
    'help',
    'conformance --help',
    'emr check --help',
    'messages retry --help',
    'operations drop --help',
    'webhooks replay --help',
    'operators create --help',
    'clients create --help',
  ])('shows help for %s', async (words) => {
    const { code, stdout } = await crossward(words);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: crossward')]);
  });

  test.each([
    ['audit search', 'time; client; operation of the interface'],
    ['clients list', 'id; where it is managed; state; granted EHRs; number of scopes; last rotation'],
    ['messages failed', 'id; EHR/care unit; channel; cause'],
    ['messages list', 'what its code is for; EHR/care unit'],
    ['operations list', 'id; EHR/care unit; kind; state'],
    ['operators list', 'name; role; state; one-time codes; when it was created.'],
    ['operators sessions', 'name; role; when it began'],
    ['secret-keys list', 'id; first use'],
    ['webhooks deliveries', 'id; event type; state'],
    ['webhooks list', 'id; client; state'],
  ])('the help for %s says what each line has', async (words, columns) => {
    expect((await crossward(`${words} --help`)).stdout).toContain(`Each line: ${columns}`);
  });

  test('shows the version', async () => {
    expect(await crossward('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test.each([
    ['nonsense', 'nonsense'],
    ['conformance --nonsense', '--nonsense'],
    ['conformance --emr sandbox-no --only nonsense', 'Allowed choices'],
    ['conformance', 'sandbox-no, sandbox-se, sandbox-uk'],
    ['conformance --emr sandbox-no --care-unit lund', 'oslo-sentrum, bergen-nord'],
    ['conformance --emr sandbox-no --from someday', 'someday'],
    ['conformance --emr sandbox-no --clock-change someday', 'Invalid --clock-change: someday'],
    ['conformance --emr sandbox-no --direct-changes', '--direct-changes needs --patient'],
    ['conformance --emr sandbox-no --patient p-1 --read-only --direct-changes', '--direct-changes needs --patient'],
    ['conformance --emr sandbox-no --patient p-1 --direct-changes', 'sandbox cannot change appointments directly'],
    ['conformance --emr sandbox-no --patient nhs_number:9990000018', 'emr_id, no_personal_number'],
    [
      'conformance --emr sandbox-uk --patient p-1 --unknown-patient nhs_number:1',
      '--unknown-patient: An nhs_number is',
    ],
    ['operators create kari', '--role'],
    ['operators create kari@example.org --role view', 'A name has 1 to 63 lower-case letters'],
    ['operators create kari --role chief', 'Allowed choices are view, operate, admin'],
    ['emr check --emr nowhere', 'sandbox-no, sandbox-se, sandbox-uk'],
    ['emr add --template happy', 'gp-connect/emis, gp-connect/tpp, hapi'],
    ['emr add', 'Name the file with the EHR: --from.'],
    ['emr check --emr sandbox-no --config /no/such/file.yaml', '/no/such/file.yaml'],
  ])('%s exits with 2 and explains why', async (words, notice) => {
    const { code, stderr } = await crossward(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(notice)]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('an invalid configuration exits with 2 and shows the position', async () => {
    const path = join(folder, 'wrong.yaml');
    await writeFile(path, 'emrs: none\nclients: []\n');
    const { code, stderr } = await crossward(`emr check --config ${path}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path}:1:`)]);
  });

  test('an unreachable database exits with 2', async () => {
    vi.stubEnv('DATABASE_URL', 'postgresql://nobody@127.0.0.1:1/none');
    const { code, stderr } = await crossward('emr check --emr sandbox-no');
    expect([code, stderr]).toEqual([2, expect.stringContaining('connection refused by 127.0.0.1:1')]);
  });
});

test.each([
  'audit search',
  'audit verify',
  'clients list',
  'conformance --emr sandbox-uk --only patients',
  'emr check --emr sandbox-uk',
  'messages failed',
  'messages list',
  'operations list',
  'operators list',
  'operators sessions',
  'secret-keys list',
  'webhooks list',
])('%s --json prints JSON on standard output, and nothing else there', async (words) => {
  const key = Buffer.alloc(32, 5);
  await requireKnownKeys(createDb(database), [key]);
  vi.stubEnv('CROSSWARD_SECRET_KEY', key.toString('base64'));
  const { code, stdout } = await crossward(`${words} --json`);
  expect([code, typeof JSON.parse(stdout)]).toEqual([0, 'object']);
});

describe('a database', () => {
  test.each([
    'messages failed',
    'messages retry x',
    'operations list',
    'operations drop x --yes',
    'secret-keys list',
    'webhooks list',
    'operators list',
    'clients list',
    'emr check --emr sandbox-no',
  ])('is not created by %s', async (words) => {
    const empty = join(folder, 'empty');
    vi.stubEnv('DATABASE_URL', '');
    vi.stubEnv('CROSSWARD_DATA_DIR', empty);
    const { code, stdout, stderr } = await crossward(words);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`data directory ${empty} contains none`)]);
    await expect(stat(empty)).rejects.toThrow('ENOENT');
  });

  test('without migrations is not changed, and the error names it without credentials', async () => {
    await using own = await createOwnDatabase('empty');
    const { code, stderr } = await crossward('messages failed');
    const { pathname, password } = new URL(own.url);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`the database ${pathname.slice(1)} at 127.0.0.1:`)]);
    expect(stderr).not.toContain(password);
    const client = await own.database.pool.connect();
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", []);
    client.release();
    expect(rows).toEqual([]);
  });
});

describe('conformance', () => {
  const only = '--only patients resources cancel unclaimed';

  test('prints a table, or JSON, and exits with 0', async () => {
    const words = `conformance --emr sandbox-uk --patient p-1 nhs_number:9990000018 ${only}`;
    const { code, stdout } = await crossward(words);
    expect(stdout).toMatch(/^ {2}cancel +5 +- +-$/m);
    expect(stdout).toMatch(/\d+ passed, 0 failed/);
    expect(code).toBe(0);
    const report = JSON.parse((await crossward(`${words} --json`)).stdout) as Report;
    expect(report).toMatchObject({ failed: 0, leftBehind: [], claims: { transactions: true } });
    expect(report.results.every(({ outcome, reason }) => outcome === 'passed' || reason !== undefined)).toBe(true);
    expect(JSON.stringify(report) + stdout).not.toContain('9990000018');
  });

  test('writes nothing if no patient is given', async () => {
    const { code, stdout } = await crossward(`conformance --emr sandbox-uk ${only}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}cancel +- +- +5$/m);
    expect(stdout).toContain('--patient');
  });

  test('exits with 1 if a claim is wrong', async () => {
    const { code, stdout } = await crossward(
      'conformance --emr sandbox-uk --service nonsense --only healthcare-services --json',
    );
    expect([code, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ failed: 1 })]);
  });
});

test('an unreachable EHR exits with 1 and is reported', async () => {
  const path = join(folder, 'down.yaml');
  await writeFile(
    path,
    `emrs:
  - id: down
    name: Down
    connector: fhir-r4
    settings: { base_url: "http://127.0.0.1:1/fhir" }
    connection: { allow_private_addresses: true, retries: 0 }
    care_units: [{ id: one, name: One, time_zone: Europe/Oslo, language: nb }]
clients: []
`,
  );
  const conformance = await crossward(`conformance --config ${path}`);
  expect(conformance).toMatchObject({ code: 1, stderr: expect.stringContaining('unavailable') });
  const check = await crossward(`emr check --config ${path}`);
  expect(check).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^EHR \w+ \(fhir-r4\)\n\n +problem +CapabilityStatement +Connection refused by 127\.0\.0\.1:1\.\n$/,
    ),
  });
});

describe('secrets', () => {
  const file = join(folder, 'secrets.yaml');
  const careUnits = 'care_units: [{ id: one, name: One, time_zone: Europe/Oslo, language: nb }]';
  const remote = (id: string, name: string) => `  - id: ${id}
    name: ${id}
    connector: fhir-r4
    settings:
      base_url: "http://127.0.0.1:1/fhir"
      auth: { type: bearer, token: { env: ${name} } }
    connection: { allow_private_addresses: true, retries: 0 }
    ${careUnits}
`;
  beforeEach(() =>
    writeFile(
      file,
      `emrs:
  - id: local
    name: Local
    connector: sandbox
    settings: { country: "NO" }
    ${careUnits}
${remote('north', 'NORTH_TOKEN')}${remote('south', 'SOUTH_TOKEN')}clients:
  - id: acme
    secrets: [{ env: ACME_CLIENT_SECRET }]
    scopes: [appointments:read]
    grants: [{ emr: local }]
messages:
  sms: { provider: webhook, url: "https://sms.example.org", secret: { env: SMS_SECRET } }
`,
    ),
  );

  test('are required only by commands that use them', async () => {
    expect(await crossward(`emr check --config ${file} --emr local`)).toMatchObject({ code: 0, stderr: '' });
    vi.stubEnv('CROSSWARD_CONFIG', file);
    vi.stubEnv('CROSSWARD_SECRET_KEY', 'not a key');
    expect(await crossward('messages failed')).toMatchObject({ code: 0 });
  });

  test('are reported as missing with their position, for one EHR only', async () => {
    const { code, stderr } = await crossward(`emr check --config ${file} --emr south`);
    expect(code).toBe(2);
    expect(stderr).toMatch(/secrets\.yaml:\d+:\d+: emrs\[2\]\..*SOUTH_TOKEN is not set\n$/);
    expect(stderr).not.toMatch(/NORTH_TOKEN|ACME_CLIENT_SECRET|SMS_SECRET/);
  });
});

describe('emr check', () => {
  test('shows the capabilities of an EHR', async () => {
    const { code, stdout } = await crossward('emr check --emr sandbox-se');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/resources by +emr_id, hsa_id, se_personal_number/)]);
  });

  test('writes JSON if requested', async () => {
    const { code, stdout } = await crossward('emr check --emr sandbox-se --json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ emr: 'sandbox-se', connector: 'sandbox' }),
    ]);
  });
});

describe('messages', () => {
  test('lists failed messages and sends them again while their code is pending', async () => {
    expect(await crossward('messages failed')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No failed messages'),
    });
    const id = await insertFailedMessage(database);
    const listed = await crossward('messages failed');
    const { hostname, port, pathname } = new URL(url ?? '');
    const notice = `Using the database ${pathname.slice(1)} at ${hostname}:${port}.\n`;
    expect(listed).toMatchObject({ code: 0, stderr: notice });
    expect(listed.stdout).toMatch(
      new RegExp(
        `^${id} {2}sandbox-se/lund {2}sms {2}status 401 from the provider {2}appointment a-1 {2}code expires \\S+Z\n$`,
      ),
    );
    expect((await crossward('messages list')).stdout).toMatch(
      new RegExp(
        `^booking {2}sandbox-se/lund {2}sms {2}failed {2}status 401 from the provider {2}since \\S+Z \\(\\d+ s\\) {2}attempts \\? {2}next none {2}code expires \\S+Z {2}appointment a-1 {2}message ${id}\n$`,
      ),
    );
    expect(await crossward(`messages retry ${id}`)).toMatchObject({ code: 0, stderr: notice });
    expect((await crossward('messages list')).stdout).toContain(
      'booking  sandbox-se/lund  sms  waiting  no attempt yet  since',
    );
    expect((await crossward('messages failed')).stdout).toContain('No failed messages');
    expect(await crossward(`messages retry ${id}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('new code'),
    });
  });
});

describe('operations', () => {
  test('lists, shows, resumes and drops open operations', async () => {
    await using own = await createOwnDatabase();
    expect(await crossward('operations list')).toMatchObject({ code: 0, stdout: 'No open operations.\n' });
    const states = ['pending', 'compensating', 'monitored', 'suspended', 'leased'] as const;
    const ids: string[] = [];
    for (const state of states) ids.push(await insertWrite(own.database, state));
    const [pending = '', , , suspended = '', leased = ''] = ids;
    const { stdout } = await crossward('operations list');
    const words = stdout.split('\n').map((line) => line.split('  ').slice(1, 4).join(' '));
    expect(words).toEqual([
      'sandbox-se/lund appointments suspended',
      ...['pending', 'compensating', 'monitored', 'pending'].map((state) => `sandbox-se/lund appointments ${state}`),
      '',
    ]);
    expect(stdout).toMatch(
      new RegExp(
        `^${suspended}  \\S+  appointments  suspended  age \\d+ s  failures 5  last failure ehr_rejected  next none$`,
        'm',
      ),
    );
    for (const [index, notice] of [
      'at the next attempt',
      'compensating',
      'late effects',
      'retry',
      'working on',
    ].entries()) {
      const shown = await crossward(`operations show ${ids[index]}`);
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(notice) });
      expect(shown.stdout + stdout).not.toMatch(/of the patient|cafe/);
    }
    expect(await crossward(`operations retry ${leased}`)).toMatchObject({ code: 1 });
    expect(await crossward(`operations retry ${pending}`)).toMatchObject({ code: 0 });
    expect(await crossward(`operations retry ${suspended}`)).toMatchObject({ code: 0 });
    expect((await crossward(`operations show ${suspended}`)).stdout).toMatch(/^state +pending$/m);
    const unsure = await crossward(`operations drop ${suspended}`);
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('remain') });
    expect(await crossward(`operations show ${suspended}`)).toMatchObject({ code: 0 });
    const dropped = await crossward(`operations drop ${suspended} --yes`);
    expect(dropped).toMatchObject({ code: 0, stdout: expect.stringContaining('remain') });
    expect(await crossward(`operations show ${suspended}`)).toMatchObject({ code: 1 });
    expect(await crossward(`operations drop ${suspended} --yes`)).toMatchObject({ code: 1 });
    expect(await crossward(`operations drop ${leased} --yes`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('working on'),
    });
  });
});

describe('webhooks', () => {
  test('lists endpoints and deliveries, and delivers, replays, disables and deletes', async () => {
    await using own = await createOwnDatabase();
    expect(await crossward('webhooks list')).toMatchObject({ code: 0, stdout: 'No webhook endpoints.\n' });
    const db = createDb(own.database);
    const keys = createKeyRing([Buffer.alloc(32, 7)]);
    const made = {
      clientId: 'clinic',
      url: 'https://hooks.clinic.example/kanari',
      secret: makeSecret(),
      eventTypes: null,
    };
    const id = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1)))?.id;
    expect((await crossward('webhooks list')).stdout).toMatch(
      new RegExp(`^${id}  clinic  enabled  pending 0  oldest 0 s  failed 0  events all\n$`),
    );
    expect(await crossward(`webhooks deliveries ${id}`)).toMatchObject({ code: 0, stdout: 'No deliveries.\n' });
    expect(await crossward(`webhooks test ${id}`)).toMatchObject({ code: 0 });
    const scopes = new Set(['webhooks:manage'] as const);
    const client = { id: 'clinic', scopes, grants: new Map(), returnUrls: [] };
    await publishEvents(db, fanOut({ configured: () => [client] }));
    const { stdout } = await crossward(`webhooks deliveries ${id}`);
    expect(stdout).toMatch(/^\S+ {2}webhook\.test {2}pending {2}attempts 0 {2}next \S+ {2}created \S+\n$/);
    const [delivery] = stdout.split(' ');
    expect(await crossward(`webhooks redeliver ${delivery}`)).toMatchObject({ code: 0 });
    expect(await crossward(`webhooks replay ${id} --from 2030-01-01T00:00:00Z`)).toMatchObject({ code: 0 });
    expect(await crossward(`webhooks replay ${id} --from yesterday`)).toMatchObject({ code: 2 });
    expect(await crossward(`webhooks disable ${id}`)).toMatchObject({ code: 0 });
    expect((await crossward('webhooks list')).stdout).toContain(
      '  disabled (client)  pending 0  oldest 0 s  failed 1  ',
    );
    expect((await crossward(`webhooks deliveries ${id} --failed`)).stdout).toContain(
      'failed  attempts 0  endpoint_disabled',
    );
    for (const words of [`test ${id}`, `redeliver ${delivery}`, `replay ${id} --from 2030-01-01T00:00:00Z`])
      expect(await crossward(`webhooks ${words}`)).toMatchObject({ code: 1 });
    expect(await crossward(`webhooks enable ${id}`)).toMatchObject({ code: 0 });
    expect(await crossward(`webhooks delete ${id}`)).toMatchObject({ code: 0 });
    for (const words of [`delete ${id}`, `enable ${id}`, 'test x', 'deliveries x', 'redeliver x'])
      expect(await crossward(`webhooks ${words}`)).toMatchObject({ code: 1 });
  });
});

describe('secret-keys', () => {
  test('are listed by id, and a lost one can be retired', async () => {
    await using own = await createOwnDatabase();
    const [key, next] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const { id } = keyIdentity(key);
    expect(await crossward(`secret-keys retire ${id}`)).toMatchObject({ code: 1 });
    const db = createDb(own.database);
    await requireKnownKeys(db, [key]);
    expect((await crossward('secret-keys list')).stdout).toMatch(new RegExp(`^${id}  first used \\S+Z  in use\n$`));
    expect(await crossward(`secret-keys retire ${id}`)).toMatchObject({ code: 0 });
    await requireKnownKeys(db, [next]);
    expect((await crossward('secret-keys list')).stdout).toMatch(new RegExp(`^${keyIdentity(next).id}  `));
  });
});

/** A key for this test only, passed in the environment. */
async function createOwnDatabase(content?: 'empty') {
  const { database, url = '', dispose } = await createTestDatabase('postgresql', content);
  vi.stubEnv('DATABASE_URL', url);
  return { database, url, [Symbol.asyncDispose]: dispose };
}

test('emr pause and resume', async () => {
  const db = createDb(database);
  const paused = () => sql`SELECT emr, paused_until AS until FROM ehr_pauses`.execute(db);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  expect(await crossward(`emr pause sandbox-no --until ${until}`)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`is paused until ${until}`),
  });
  expect((await paused()).rows).toEqual([{ emr: 'sandbox-no', until: new Date(until) }]);
  expect(await crossward('emr pause sandbox-no')).toMatchObject({ code: 0 });
  expect((await paused()).rows).toEqual([{ emr: 'sandbox-no', until: null }]);
  for (const [words, code, text] of [
    ['emr pause sandbox-no --until 2020-01-01T00:00Z', 1, 'not in the future'],
    ['emr pause sandbox-no --until 2099-01-01T00:00', 2, 'UTC offset'],
    ['emr pause nowhere', 2, 'Known EHRs: sandbox-no'],
    ['emr resume nowhere', 2, 'Known EHRs: sandbox-no'],
  ] as const) {
    expect(await crossward(words)).toMatchObject({ code, stderr: expect.stringContaining(text) });
  }
  expect(await crossward('emr resume sandbox-no')).toMatchObject({ code: 0 });
  expect(await crossward('emr resume sandbox-no')).toMatchObject({ code: 1 });
  expect((await paused()).rows).toEqual([]);
  const { rows } = await sql`
    SELECT action, outcome FROM operator_activity WHERE operator_name = 'command line' AND target = 'sandbox-no'
    ORDER BY id`.execute(db);
  const done = (action: string) => ({ action, outcome: 'done' });
  const not = (action: string) => ({ action, outcome: 'not_possible' });
  expect(rows).toEqual([done('emr_pause'), done('emr_pause'), not('emr_pause'), done('emr_resume'), not('emr_resume')]);
});
