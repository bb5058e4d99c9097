import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { introduction } from '../server/src/http/openapi/openapi-introduction.ts';
import { createTestDatabase } from '../test/database/database.ts';
import { type ChildGateway, type ChildSetup, startChild } from '../test/processes/child-gateway.ts';
import { freePort } from '../test/processes/free-port.ts';
import { clientExamples, compileIn } from './client-readme.ts';
import { root, run } from './npm-pack.ts';

/** As on a machine that has no clone: the packages of this repository are not on the path. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const quietly = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
const endings: (() => unknown)[] = [];

/** Outside the repository, so that nothing is found in the repository's node_modules. */
let folder: string;
let connector: string;
/** The folder of an operator and caller, in which the packages are installed. */
let home: string;
/** File names of the tarballs. */
let tarballs: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-delivery-'));
  [connector, home] = [join(folder, 'north-ehr'), join(folder, 'home')];
  const packages = join(folder, 'packages');
  await Promise.all([
    run('npm', ['run', '--silent', 'pack', '--', packages], { cwd: root }),
    run('npm', ['run', '--silent', 'create-connector', '--', connector, '--template', 'booking'], { cwd: root }),
  ]);
  await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: packages });
  tarballs = (await readdir(packages)).filter((name) => name.endsWith('.tgz'));
  await Promise.all([npmInstall(connector), mkdir(home)]);
  await run('npm', ['ci', ...quietly], { cwd: connector });
  // `npm pack` does not build where npm is told to ignore scripts.
  await run('npm', ['run', '--silent', 'build'], { cwd: connector });
  await run('npm', ['pack', '--silent', '--pack-destination', packages], { cwd: connector });
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  const files = (await readdir(packages)).filter((name) => name.endsWith('.tgz')).map((name) => join(packages, name));
  await npmInstall(home, ...files);
});

afterAll(async () => {
  for (const end of endings) await end();
  await rm(folder, { recursive: true, force: true });
});

function npmInstall(cwd: string, ...packages: readonly string[]): Promise<unknown> {
  return run('npm', ['install', ...quietly, ...packages], { cwd });
}

/** Runs `npx crossward start` in the home folder. */
async function startInstalled(databaseUrl?: string, setup?: ChildSetup): Promise<ChildGateway> {
  const gateway = await startChild({
    command: ['npx', 'crossward', 'start'],
    cwd: home,
    dataDir: join(home, '.data'),
    databaseUrl,
    variables: { PATH },
    ...(setup ? { setup } : {}),
  });
  endings.push(() => stop(gateway));
  return gateway;
}

/** As Ctrl-C does: npm and the gateway get the signal. */
async function stop(gateway: ChildGateway): Promise<void> {
  if (!gateway.hasEnded()) process.kill(-gateway.pid, 'SIGINT');
  await gateway.ended;
}

function crossward(words: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<{ stdout: string }> {
  return run('npx', ['crossward', ...words], { cwd: home, env: { PATH, ...variables } });
}

/** Starts the EHR of the template, and returns its URL. */
async function startEhr(): Promise<string> {
  const child = spawn(process.execPath, ['src/ehr-server.ts'], {
    cwd: connector,
    env: { ...process.env, EHR_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endings.push(() => child.kill());
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return line.slice(line.indexOf('http'));
}

test('npx crossward start in an empty folder is the demo, on which the examples of the client’s README book', async () => {
  const gateway = await startInstalled();
  const examples = await clientExamples();
  expect(examples.length).toBeGreaterThan(5);
  const names = examples.map((_, index) => `example-${index + 1}`);
  const programs = Object.fromEntries(examples.map(({ code }, index) => [`${names[index]}.ts`, code]));
  expect(await compileIn(home, programs)).toBe('');

  // The examples of the client's README print what it says, on the Node.js that users have.
  const all = names.map((name) => `console.log('${name}');\nawait import('./${name}.js');`).join('\n');
  await writeFile(join(home, 'all.js'), all);
  const { 'x-service-client-id': id, 'x-service-client-secret': secret } = gateway.credentials;
  const env = { PATH, CROSSWARD_URL: gateway.address, CROSSWARD_CLIENT_ID: id, CROSSWARD_CLIENT_SECRET: secret };
  const { stdout } = await run('node', ['all.js'], { cwd: home, env });
  const printed = examples.flatMap((example, index) => [names[index], ...example.printed]);
  expect(stdout.trimEnd().split('\n')).toEqual(printed);

  for (const path of [
    '/docs/',
    '/docs/js/scalar.js',
    '/demo/documents/docs/guide/README.md',
    '/console',
    '/health/ready',
  ]) {
    expect((await fetch(gateway.address + path)).status, path).toBe(200);
  }
  const assistant = new StdioClientTransport({
    command: 'npx',
    args: ['crossward', 'mcp'],
    cwd: home,
    env: {
      ...env,
      CROSSWARD_EMR: 'sandbox-no',
      CROSSWARD_CARE_UNIT: 'oslo-sentrum',
      CROSSWARD_PATIENT: 'p-3',
    },
  });
  const host = new Client({ name: 'test-host', version: '1.0.0' });
  await host.connect(assistant);
  expect((await host.callTool({ name: 'list_services' })).structuredContent).toMatchObject({ has_more: false });
  await host.close();

  await stop(gateway);
  expect(gateway.logLines.join('\n')).toContain('stopping after the current requests');
});

test('npx crossward init writes a configuration with which it starts', async () => {
  expect((await crossward(['init', 'clinic'])).stdout).toContain('npx crossward start');
  const shell = 'set -a; . clinic/crossward.env; npx crossward config check';
  const { stdout } = await run('sh', ['-c', shell], { cwd: home, env: { PATH } });
  expect(stdout).toContain('clinic/crossward.yaml');
});

test('the packed packages contain what they run, and no tests', async () => {
  expect(tarballs.map((name) => name.replace(/-\d.*/, '')).sort()).toEqual([
    'crossward',
    'crossward-client',
    'crossward-connector-kit',
  ]);
  for (const name of ['crossward', '@crossward/client', '@crossward/connector-kit']) {
    const installed = join(home, 'node_modules', name);
    const files = await readdir(installed, { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
    expect(files.filter((file) => /\.test\.|test-support|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('private');
    // None is needed that is in no registry.
    expect(
      Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter((dependency) =>
        dependency.startsWith('@crossward/'),
      ),
    ).toEqual([]);
  }
});

test.each(['crossward', '@crossward/client', '@crossward/connector-kit', 'north-ehr'])(
  'each link in the README of the packed %s leads somewhere',
  async (name) => {
    const installed = join(home, 'node_modules', name);
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const targets = [...readme.matchAll(/\]\((?!https?:|#)([^)#]*)/g)].map(([, target = '']) => target);
    const found = await Promise.all(
      targets.map((target) =>
        access(join(installed, target)).then(
          () => true,
          () => false,
        ),
      ),
    );
    expect(targets.filter((_, at) => !found[at])).toEqual([]);
  },
);

test('the example in the API reference compiles, and names the packed file', async () => {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(introduction) ?? [];
  expect(code).toContain('createCrosswardClient');
  expect(await compileIn(home, { 'reference.ts': code })).toBe('');
  expect(introduction).toContain('crossward-client-*.tgz');
});

test('the package of the gateway contains what operators deploy it with', async () => {
  const written = (await run('git', ['ls-files', 'deploy'], { cwd: root })).stdout.trim().split('\n');
  const installed = await readdir(join(home, 'node_modules/crossward/deploy'), { recursive: true });
  expect(written.filter((path) => !installed.includes(path.replace('deploy/', '')))).toEqual([]);
});

test('--omit=optional leaves out Node.js and the embedded database, for machines that have Node.js and PostgreSQL', async () => {
  const lean = join(folder, 'lean');
  await mkdir(lean);
  await writeFile(join(lean, 'package.json'), '{}');
  const gatewayTarball = tarballs.find((name) => /^crossward-\d/.test(name)) ?? '';
  await npmInstall(lean, '--omit=optional', join(folder, 'packages', gatewayTarball));
  expect(await readdir(join(lean, 'node_modules'))).toEqual(['.bin', '.package-lock.json', 'crossward']);
  expect(await bytesIn(join(lean, 'node_modules'))).toBeLessThan(20_000_000);
  const program = join(lean, 'node_modules/crossward/server/src/cli/crossward.js');
  const start = run(process.execPath, [program, 'start'], { cwd: lean, env: { PATH, PORT: String(await freePort()) } });
  await expect(start).rejects.toMatchObject({
    stderr: expect.stringContaining('Set DATABASE_URL to that of a PostgreSQL'),
  });
});

test('the package and its embedded database have at most 55 MB, besides Node.js', async () => {
  const modules = join(home, 'node_modules');
  const bytes = await Promise.all(['crossward', '@electric-sql'].map((name) => bytesIn(join(modules, name))));
  expect((bytes[0] ?? 0) + (bytes[1] ?? 0)).toBeLessThan(55_000_000);
});

async function bytesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
}

test('the packed client has types', async () => {
  const code = `
    import { createCrosswardClient, type Appointment, type Reason } from '@crossward/client';
    const client = createCrosswardClient({ baseUrl: '', clientId: '', clientSecret: '' });
    export const number: number = client.careUnit('a', 'b').appointments.get('c');
    export const reason: Reason = 'anything';
    export const status: Appointment['status'] = 'moved';`;
  expect((await compileIn(home, { 'wrong.ts': code })).match(/error TS\d+/g)).toHaveLength(3);
});

test('a copy of the template passes its tests and the type check, outside the repository', async () => {
  expect(JSON.parse(await readFile(join(connector, 'package.json'), 'utf8'))).toMatchObject({
    name: 'north-ehr',
    engines: { node: '>=22.18' },
  });
  // An older Node.js is rejected when the packages are installed.
  expect(await readFile(join(connector, '.npmrc'), 'utf8')).toBe('engine-strict=true\n');
  const report = join(folder, 'report.json');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`];
  // The report says what failed.
  await run(process.execPath, args, { cwd: connector, env: withoutVitest() }).catch(() => undefined);
  const { success, testResults, numPassedTests } = JSON.parse(await readFile(report, 'utf8')) as VitestReport;
  const results = testResults.flatMap((it) => it.assertionResults);
  expect([success, results.filter(({ status }) => status === 'failed')]).toEqual([true, []]);
  expect(numPassedTests).toBeGreaterThan(60);
  await run('npm', ['run', '--silent', 'types'], { cwd: connector });
});

test('the installed gateway books through an installed plug-in, on PostgreSQL', async () => {
  const secret = randomBytes(32).toString('base64url');
  const emr = {
    id: 'north',
    name: 'North',
    connector: 'north-ehr',
    settings: { base_url: await startEhr(), user: 'gateway', password: { env: 'CLINIC_PASSWORD' } },
    connection: { allow_private_addresses: true },
    synthetic_identifiers: true,
    care_units: [
      { id: 'clinic', name: 'Clinic', time_zone: 'Europe/London', language: 'en', settings: { department: 'D1' } },
    ],
  };
  const scopes = ['patients:read', 'resources:read', 'appointments:read', 'appointments:write'];
  const client = { id: 'me', secrets: [{ env: 'MY_SECRET' }], scopes, grants: [{ emr: 'north' }] };
  await writeFile(join(home, 'north.yaml'), JSON.stringify({ emrs: [emr], clients: [client] }));
  const database = await createTestDatabase('postgresql', 'empty');
  const variables = {
    CROSSWARD_CONFIG: 'north.yaml',
    CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
    CLINIC_PASSWORD: 'a password of the test EHR',
    MY_SECRET: secret,
  };
  const gateway = await startInstalled(database.url, { client: { id: 'me', secret }, variables });
  endings.push(() => database.dispose());

  const clinic = '/api/emrs/north/care-units/clinic';
  const patient = await gateway.send({ method: 'GET', path: `${clinic}/patients/nhs_number:9990000018` });
  expect([patient?.status, patient?.body]).toMatchObject([200, { family_name: 'Meadow' }]);

  const inTenDays = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const booking = {
    patient_id: 'emr_id:1001',
    resource_id: 'emr_id:ada',
    healthcare_service_id: 'consultation',
    start_time: `${inTenDays}T11:00:00`,
    end_time: `${inTenDays}T11:30:00`,
  };
  const post = { method: 'POST', path: `${clinic}/appointments`, body: booking };
  const booked = await gateway.send<{ id: string }>(post);
  expect([booked?.status, booked?.body]).toMatchObject([201, { status: 'booked' }]);
  const read = await gateway.send({ method: 'GET', path: `${clinic}/appointments/${booked?.body.id}` });
  expect(read?.body).toMatchObject({ status: 'booked', start: expect.stringContaining(inTenDays) });

  // The error is thrown by the connector's own copy of the kit.
  const again = await gateway.send(post);
  expect([again?.status, again?.body]).toMatchObject([400, { reason: 'time_slot_unavailable' }]);

  const environment = { ...variables, DATABASE_URL: database.url };
  const check = await crossward(['emr', 'check'], environment);
  expect(check.stdout).toMatch(/^ {2}ok +services +The EHR lists \d+ services\.$/m);
  const { stdout } = await crossward(['conformance', '--only', 'patients', 'resources'], environment);
  expect(stdout).toMatch(/\d+ passed, 0 failed/);
  // Passwords are hashed in a thread, which runs a program of its own.
  const create = `printf 'correct horse battery\\n' | npx crossward operators create kari --role admin`;
  const created = await run('sh', ['-c', create], { cwd: home, env: { PATH, ...environment } });
  expect(created.stdout).toContain('otpauth://');
});

interface VitestReport {
  readonly numPassedTests: number;
  readonly success: boolean;
  readonly testResults: readonly { readonly assertionResults: readonly { readonly status: string }[] }[];
}

/** Vitest behaves differently in a process of Vitest. */
function withoutVitest(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_ENV$)/.test(name)));
}
