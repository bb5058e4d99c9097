import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startFake } from '../../../../connectors/fhir-r4/fake/server.ts';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { pgbouncerVersion, startPgbouncer } from '../../../../test/database/pgbouncer.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { startChild } from '../../../../test/processes/child-gateway.ts';
import { freePort } from '../../../../test/processes/free-port.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { createAuthority } from '../../../../test/tls/certificates.ts';
import { prepareAuditKey } from '../../audit/audit-keys.ts';
import { newTrail, tamper } from '../../audit/test-audit.ts';
import { environmentVariables } from '../../config/environment/environment-variables.ts';
import { createDb } from '../../db/kysely.ts';
import { pauseEhr, resumeEhr } from '../../ehr/pauses.ts';
import { providerServer } from '../../messages/providers/test-support.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { crossward as runCommand } from '../test-support.ts';
import type { Finding } from './finding.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-doctor-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

afterEach(() => {
  vi.unstubAllEnvs();
});

type Variables = Readonly<Record<string, string>>;

/** Runs the command line with these variables alone. In this process, because each start of another one takes seconds. */
function crossward(words: string, variables: Variables) {
  vi.unstubAllEnvs();
  const own = Object.keys(environmentVariables).map((name) => [name, undefined] as const);
  for (const [name, value] of [...own, ['PORT', '0'] as const, ...Object.entries(variables)]) vi.stubEnv(name, value);
  return runCommand(words);
}

/** The findings of a command as `area subject status`, with their texts. */
async function findings(words: string, variables: Variables) {
  const { code, stdout, stderr } = await crossward(`${words} --json`, variables);
  expect(stderr).toBe('');
  const { ok, findings: found }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
  expect(ok).toBe(code === 0);
  const texts = Object.fromEntries(
    found.map(({ area, subject, status, text }) => [`${area} ${subject} ${status}`, text]),
  );
  return { code, texts, areas: [...new Set(found.map(({ area }) => area))], stdout };
}

const emr = (baseUrl: string) => ({
  id: 'clinic',
  name: 'Clinic',
  connector: 'fhir-r4',
  settings: { base_url: baseUrl },
  connection: { allow_private_addresses: true, retries: 0 },
  policies: { booking_confirmation: 'code' },
  care_units: [{ id: 'one', name: 'One', time_zone: 'Europe/Oslo', language: 'nb' }],
});

async function configured(file: object): Promise<Variables> {
  const path = join(folder, `${randomBytes(4).toString('hex')}.yaml`);
  // JSON is YAML.
  await writeFile(path, JSON.stringify({ clients: [], ...file }));
  return {
    CROSSWARD_CONFIG: path,
    CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
    CROSSWARD_DATA_DIR: join(folder, 'none'),
    SMS_SECRET: 'secret-of-the-provider',
    SMTP_PASSWORD: 'password-of-the-mail-server',
  };
}

async function smtpServer(password: string): Promise<{ port: number; letters: number }> {
  const seen = { letters: 0 };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (given, _session, done) =>
      given.password === password
        ? done(null, { user: 'u' })
        : done(Object.assign(new Error('no'), { responseCode: 535 })),
    onData: (_stream, _session, done) => {
      seen.letters++;
      done();
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return Object.assign(seen, { port: (server.server.address() as AddressInfo).port });
}

test('beside the running demo, it asks the gateway, and all is well', async () => {
  const dataDir = join(folder, 'demo');
  const gateway = await startChild({ dataDir, variables: { LOG_LEVEL: 'info' } });
  onTestFinished(() => gateway.kill());
  const variables = { CROSSWARD_DATA_DIR: dataDir, PORT: new URL(gateway.address).port };
  const { code, texts } = await findings('doctor', variables);
  expect(texts).toMatchObject({
    'gateway process ok': `runs at ${gateway.address}`,
    'database connection ok': `the embedded database in ${dataDir} is in use by the running gateway, and responds`,
    'EHRs sandbox-se ok': 'the running gateway has opened it',
  });
  expect(code).toBe(0);
  expect(await crossward('status', variables)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nAll is well\.\n$/),
  });
  // On another port it sees that somebody else has the database.
  expect((await findings('doctor', { CROSSWARD_DATA_DIR: dataDir })).texts).toMatchObject({
    'database connection unchecked': `the embedded database in ${dataDir} is in use by another Crossward process; if that is the gateway, set PORT to its port`,
  });
  await gateway.kill();
  const alone = await findings('doctor', variables);
  expect(alone).toMatchObject({ code: 0, texts: { 'database migrations ok': 'all are applied' } });
  expect(alone.texts['secret key key ok']).toContain('reads what the database has encrypted');
  expect(alone.texts['EHRs sandbox-no ok']).toMatch(/^sandbox is open, with \d+ operations$/);
  // Whether something runs matters to `status` alone.
  expect(await findings('status', variables)).toMatchObject({
    code: 1,
    texts: { 'gateway process problem': `does not run at ${gateway.address}` },
  });
});

test('before the first start nothing is created', async () => {
  const dataDir = join(folder, 'new');
  const { code, texts } = await findings('doctor', { CROSSWARD_DATA_DIR: dataDir });
  expect(code).toBe(0);
  expect(texts['database connection note']).toContain('does not exist yet; the gateway creates it when it starts');
  expect(await readdir(folder)).not.toContain('new');
});

test('names the cause of everything that cannot be reached, without paths and secrets', async () => {
  const port = await freePort();
  const variables = await configured({
    emrs: [emr(`http://127.0.0.1:${port}/fhir-path`)],
    messages: {
      sms: { provider: 'webhook', url: `http://127.0.0.1:${port}/sms-path`, secret: { env: 'SMS_SECRET' } },
      email: { provider: 'smtp', host: '127.0.0.1', port, tls: 'none', from: 'a@example.org' },
    },
    http: { public_url: `https://127.0.0.1:${port}/page-path` },
  });
  const databaseUrl = `postgres://user:password-of-the-database@127.0.0.1:${port}/name`;
  const { code, texts, stdout } = await findings('doctor', { ...variables, DATABASE_URL: databaseUrl });
  const refused = `connection refused by 127.0.0.1:${port}`;
  expect(code).toBe(1);
  expect(texts).toMatchObject({
    'database connection problem': `Cannot connect to PostgreSQL: ${refused}`,
    'EHRs clinic problem': `cannot be opened: ${refused}`,
    'messages SMS problem': `webhook: ${refused}`,
    'messages e-mail problem': `smtp: ${refused}`,
    'public addresses http.public_url unchecked': `${refused}; no gateway runs here now`,
  });
  expect(stdout).not.toMatch(/-path|password-of|secret-of/);
});

// Skipped where PgBouncer is not installed, as on a developer's machine. `.ci/run` installs it.
test.skipIf(pgbouncerVersion() === undefined)(
  'behind PgBouncer, tells which of its settings lose time-outs',
  async () => {
    const { database, url = '', dispose } = await createTestDatabase('postgresql');
    onTestFinished(dispose);
    const variables = await configured({ emrs: [emr('http://127.0.0.1:1')] });
    const behind = async (more: string) => {
      const bouncer = await startPgbouncer(url, 'session', more);
      const found = await findings('doctor', { ...variables, DATABASE_URL: bouncer.url });
      await bouncer.stop();
      return found.texts;
    };
    const user = decodeURIComponent(new URL(url).username);
    const lacking = await behind(`stats_users = ${user}`);
    expect(lacking).toMatchObject({
      'database statement_timeout warning': expect.stringContaining('is off instead of 30 s'),
      'database lock_timeout warning': expect.stringContaining("SET lock_timeout = '5s'"),
      'database idle_in_transaction_session_timeout warning': expect.stringContaining('is off instead of 5 s'),
      'database server_login_retry warning': expect.stringContaining('is 15 s'),
    });
    const name = new URL(url).pathname.slice(1);
    for (const setting of [
      "statement_timeout = '30s'",
      "lock_timeout = '5s'",
      "idle_in_transaction_session_timeout = '5s'",
    ])
      await sql.raw(`ALTER DATABASE "${name}" SET ${setting}`).execute(createDb(database));
    const well = await behind(`stats_users = ${user}\nserver_login_retry = 1`);
    expect(well['database server_login_retry ok']).toBe('of PgBouncer is 1 s');
    expect(Object.keys(well).filter((it) => it.includes('timeout'))).toEqual([]);
    expect((await behind(''))['database server_login_retry unchecked']).toContain('stats_users');
    // PostgreSQL itself.
    const direct = await findings('doctor', { ...variables, DATABASE_URL: url });
    expect(Object.keys(direct.texts).join()).not.toContain('server_login_retry');
  },
);

test('greets the providers, and sends no message', async () => {
  await using sms = await providerServer((_request, response) => response.writeHead(405).end());
  const mail = await smtpServer('password-of-the-mail-server');
  const email = { provider: 'smtp', host: '127.0.0.1', port: mail.port, tls: 'none', from: 'a@example.org' };
  const account = { username: 'clinic', password: { env: 'SMTP_PASSWORD' } };
  const messages = {
    sms: { provider: 'webhook', url: `${sms.url}/send`, secret: { env: 'SMS_SECRET' } },
    email: { ...email, ...account },
  };
  const variables = await configured({ emrs: [emr('http://127.0.0.1:1')], messages });
  const well = await findings('doctor', variables);
  expect(well.texts['messages SMS ok']).toContain(`webhook at ${new URL(sms.url).host} responds`);
  expect(well.texts['messages e-mail ok']).toBe(
    `smtp at 127.0.0.1:${mail.port} greets, and accepts the user name and password`,
  );
  expect(sms.received.map(({ method, body }) => [method, body])).toEqual([['HEAD', '']]);
  expect(mail.letters).toBe(0);

  const wrong = await findings('doctor', { ...variables, SMTP_PASSWORD: 'another' });
  expect(wrong.texts['messages e-mail problem']).toContain('rejected the user name or password');
});

test.each([
  ['46elks', { username: 'u', password: { env: 'SMS_SECRET' }, from: 'Clinic' }, 'GET /a1/me'],
  [
    'twilio',
    { account_sid: `AC${'0'.repeat(32)}`, auth_token: { env: 'SMS_SECRET' }, from: '+4712345678' },
    `GET /2010-04-01/Accounts/AC${'0'.repeat(32)}.json`,
  ],
])('checks the credentials of %s', async (provider, settings, request) => {
  let status = 200;
  await using server = await providerServer((_request, response) => response.writeHead(status).end('{}'));
  const messages = { sms: { provider, base_url: server.url, ...settings } };
  const variables = await configured({ emrs: [emr('http://127.0.0.1:1')], messages });
  expect((await findings('doctor', variables)).texts['messages SMS ok']).toContain(`${provider} at 127.0.0.1:`);
  expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([request]);
  status = 401;
  expect((await findings('doctor', variables)).texts['messages SMS problem']).toContain('status 401 from 127.0.0.1:');
});

test('opens an EHR, and shows what its probe warns of', async () => {
  const fake = await startFake();
  onTestFinished(() => fake.close());
  const { texts } = await findings('doctor', await configured({ emrs: [emr(fake.url)], messages: { sms: demo } }));
  expect(texts['EHRs clinic ok']).toMatch(/^fhir-r4 is open, with \d+ operations/);
});

test("warns before the gateway's certificate for an EHR expires", async () => {
  const fake = await startFake();
  onTestFinished(() => fake.close());
  const file = join(folder, 'client.pem');
  // A minute more, for the time until it is read.
  const tenDays = (10 * 24 * 60 + 1) * 60_000;
  const { cert, key } = createAuthority().issue({ to: new Date(Date.now() + tenDays) });
  await writeFile(file, cert + key);
  const { connection, ...rest } = emr(fake.url);
  const tls = { client_certificate: file, client_key: file };
  const variables = await configured({
    emrs: [{ ...rest, connection: { ...connection, tls } }],
    messages: { sms: demo },
  });
  expect((await findings('doctor', variables)).stdout).toContain('"client certificate: expires in 10 days, on ');
  const report = await crossward('emr check', variables);
  expect([report.code, report.stdout]).toEqual([
    0,
    expect.stringMatching(/warning +client certificate +expires in 10 days/),
  ]);
  await writeFile(file, cert);
  expect((await findings('doctor', variables)).texts['EHRs clinic problem']).toBe(
    `${file}: cannot be read as a PEM private key (tls.client_key)`,
  );
});

const demo = { provider: 'demo_mailbox' };

test('checks the settings of PostgreSQL, and the secret key', async () => {
  const { url = '', dispose } = await createTestDatabase('postgresql', 'empty');
  onTestFinished(dispose);
  const variables = await configured({ emrs: [emr('http://127.0.0.1:1')], messages: { sms: demo } });
  const { texts } = await findings('doctor', { ...variables, DATABASE_URL: url, DATABASE_POOL_SIZE: '1000' });
  // The server of the tests keeps nothing on a disk.
  expect(texts['database fsync problem']).toContain('is off');
  expect(texts['database max_connections warning']).toContain('this gateway alone can use 1005');
  expect(texts['database migrations note']).toMatch(/^\d+ are missing; the gateway applies them when it starts$/);
  expect(texts['database clock ok']).toMatch(/^differs from this machine's by 0\.\d seconds$/);
});

test('finds a secret key that does not fit, and a database of a later version', async () => {
  const { database, url = '', dispose } = await createTestDatabase('postgresql');
  onTestFinished(dispose);
  const execute = async (text: string) => {
    const client = await database.pool.connect();
    await client.query(text);
    client.release();
  };
  await execute(`INSERT INTO secret_keys (id, check_value) VALUES ('0badcafe', '\\x00')`);
  const variables = await configured({ emrs: [emr('http://127.0.0.1:1')], messages: { sms: demo } });
  const { texts } = await findings('doctor', { ...variables, DATABASE_URL: url });
  expect(texts['secret key key problem']).toContain(
    'has been used with the secret key 0badcafe, which is missing here',
  );
  await execute(`INSERT INTO schema_migrations (set, version, name, sha256) VALUES ('crossward', 999999, 'later', '')`);
  expect(
    (await findings('status', { ...variables, DATABASE_URL: url })).texts['database migrations problem'],
  ).toContain('The database is newer than this version of Crossward');
});

test('says that an EHR is paused, and does not call it', async () => {
  const gateway = await startGateway({ databaseKind: 'postgresql' });
  onTestFinished(() => gateway.close());
  await pauseEhr(gateway.deps.services.db, 'sandbox-no', null);
  // With the gateway's database, and beside a gateway whose database is not open here.
  const here = { PORT: String(gateway.port), CROSSWARD_DATA_DIR: join(folder, 'none') };
  const fixed = { ...here, DATABASE_URL: gateway.ground.testDatabase.url ?? '' };
  const expected = /^operators have paused it since .*Z, until `crossward emr resume`: not checked$/;
  for (const words of ['doctor', 'status']) {
    const { texts } = await findings(words, fixed);
    expect(texts['EHRs sandbox-no warning']).toMatch(expected);
    expect(texts['EHRs sandbox-se ok']).toContain('is open');
  }
  await eventually(async () => {
    const { texts } = await findings('status', here);
    expect(texts['EHRs sandbox-no warning']).toBe('operators have paused it: not checked');
  });
  await resumeEhr(gateway.deps.services.db, 'sandbox-no');
  expect((await findings('status', fixed)).texts['EHRs sandbox-no ok']).toContain('is open');
});

test('asks the public address for a gateway, and tells a proxy that does not reach it', async () => {
  let headers: Record<string, string> = {};
  const server = createServer((_request, response) => response.writeHead(404, headers).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const variables = await configured({
    emrs: [emr('http://127.0.0.1:1')],
    messages: { sms: demo },
    http: { public_url: `http://127.0.0.1:${port}` },
    console: { url: `http://localhost:${port}`, local_accounts: true },
  });
  const before = await findings('doctor', variables);
  expect(before.texts['public addresses http.public_url unchecked']).toContain('which is not from a gateway');
  headers = { 'x-request-id': 'r-1' };
  expect((await findings('doctor', variables)).texts).toMatchObject({
    'public addresses http.public_url ok': `127.0.0.1:${port} reaches a gateway`,
    'public addresses console.url ok': `localhost:${port} reaches a gateway`,
  });
});

test('config check reads the setup alone, and reports every mistake', async () => {
  const variables = await configured({
    emrs: [{ ...emr('http://127.0.0.1:1'), connector: 'fhir' }],
    messages: { sms: demo },
  });
  const wrong = await findings('config check', { ...variables, PORT: 'eighty', CROSSWARD_WORKER: '2' });
  expect(wrong).toMatchObject({ code: 1, areas: ['configuration'] });
  expect(wrong.texts['configuration environment problem']).toContain('PORT: must be a whole number');
  expect(wrong.texts['configuration CROSSWARD_WORKER warning']).toContain('did you mean CROSSWARD_WORKERS?');
  expect(wrong.texts['configuration file problem']).toContain('did you mean "fhir-r4"?');
  expect(
    await findings('config check', await configured({ emrs: [emr('http://127.0.0.1:1')], messages: { sms: demo } })),
  ).toMatchObject({ code: 0, areas: ['configuration'] });
  expect(await crossward('doctor --nonsense', {})).toMatchObject({ code: 2, stdout: '' });
});

test('doctor and status tell whether the audit trail is written to its file', async () => {
  const { database, url = '', dispose } = await createTestDatabase('postgresql');
  onTestFinished(dispose);
  const db = createDb(database);
  const trail = newTrail(db, await prepareAuditKey(db, createKeyRing([randomBytes(32)])));
  await trail.record({
    actor: 'client',
    clientId: 'app',
    operation: 'get_patient',
    emr: 'clinic',
    careUnitId: 'one',
    patients: ['emr_id:p-1'],
    records: [],
    outcome: 'success',
    requestId: 'r-1',
    writeId: undefined,
  });
  await trail.close();
  const file = join(folder, 'no-such-folder', 'audit.ndjson');
  const variables = {
    ...(await configured({ emrs: [{ ...emr('http://127.0.0.1:9'), policies: {} }], audit: { export: { file } } })),
    DATABASE_URL: url,
  };
  const fresh = await findings('status', variables);
  expect(fresh.texts['database audit export ok']).toMatch(
    /^1 entries are not in the file, the oldest for \d+ seconds$/,
  );
  expect(fresh.texts['database audit export warning']).toBe(`${file} cannot be written here: ENOENT`);
  await db.updateTable('audit_export').set({ failure: 'ENOSPC' }).execute();
  await tamper(db, (tx) => sql`UPDATE audit_entries SET at = at - interval '10 minutes'`.execute(tx));
  const { code, texts } = await findings('status', variables);
  expect([code, texts['database audit export problem']]).toEqual([
    1,
    expect.stringMatching(/the oldest for 6\d\d seconds; the last attempt failed with ENOSPC$/),
  ]);
});
