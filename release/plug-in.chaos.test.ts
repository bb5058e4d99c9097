import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../test/database/database.ts';
import { type ChildGateway, startChild } from '../test/processes/child-gateway.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const secret = randomBytes(32).toString('base64url');
const endings: (() => unknown)[] = [];

/** Outside the repository, so that nothing is found in the repository's node_modules. */
let folder: string;
let connector: string;
let database: TestDatabase;
let gateway: ChildGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-plug-in-'));
  connector = join(folder, 'north-ehr');
  await run('npm', ['run', '--silent', 'create-connector', '--', connector, '--template', 'booking'], { cwd: root });
  await installOffline();
});

afterAll(async () => {
  await gateway?.kill();
  for (const end of endings) await end();
  await rm(folder, { recursive: true, force: true });
});

/** Does the work of `npm install` without a registry: the kit from its tarball, everything else from the repository. */
async function installOffline(): Promise<void> {
  const modules = join(connector, 'node_modules');
  const [kit = ''] = (await readdir(connector)).filter((name) => name.endsWith('.tgz'));
  await unpack(join(connector, kit), join(modules, '@crossward/connector-kit'));
  for (const name of ['kysely', 'rrule-temporal', 'temporal-polyfill', 'temporal-spec', 'temporal-utils']) {
    await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true });
  }
  await mkdir(join(modules, '.bin'));
  await mkdir(join(modules, '@types'));
  for (const name of ['vitest', 'typescript', '@types/node', '.bin/tsc', '.bin/vitest']) {
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
}

async function unpack(tarball: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
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

/** A folder with a configuration, in which the packed connector is installed. */
async function configure(baseUrl: string): Promise<string> {
  const home = join(folder, 'gateway');
  // `npm pack` does not build where npm is told to ignore scripts.
  await run('npm', ['run', '--silent', 'build'], { cwd: connector });
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: connector });
  const tarball = stdout.trim().split('\n').at(-1) ?? '';
  await unpack(join(folder, tarball), join(home, 'node_modules/north-ehr'));
  const emr = {
    id: 'north',
    name: 'North',
    connector: 'north-ehr',
    settings: { base_url: baseUrl },
    connection: { allow_private_addresses: true },
    synthetic_identifiers: true,
    care_units: [{ id: 'clinic', name: 'Clinic', time_zone: 'Europe/London', language: 'en' }],
  };
  const scopes = ['patients:read', 'resources:read', 'appointments:read', 'appointments:write'];
  const client = { id: 'me', secrets: [{ env: 'MY_SECRET' }], scopes, grants: [{ emr: 'north' }] };
  const path = join(home, 'crossward.yaml');
  await writeFile(path, JSON.stringify({ emrs: [emr], clients: [client] }));
  return path;
}

test('a copy of the template passes its tests and the type check, outside the repository', async () => {
  expect(JSON.parse(await readFile(join(connector, 'package.json'), 'utf8'))).toMatchObject({
    name: 'north-ehr',
    engines: { node: '>=22.18' },
  });
  // An older Node.js is rejected when the packages are installed.
  expect(await readFile(join(connector, '.npmrc'), 'utf8')).toBe('engine-strict=true\n');
  const report = join(folder, 'report.json');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`];
  await run(process.execPath, args, { cwd: connector, env: withoutVitest() });
  const { success, numPassedTests } = JSON.parse(await readFile(report, 'utf8')) as Record<string, unknown>;
  expect(success).toBe(true);
  expect(numPassedTests).toBeGreaterThan(60);
  await run('npm', ['run', '--silent', 'types'], { cwd: connector });
});

test('the gateway books through the installed package', async () => {
  const path = await configure(await startEhr());
  database = await createTestDatabase('postgresql', 'empty');
  endings.push(() => database.dispose());
  const variables = {
    CROSSWARD_CONFIG: path,
    CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
    MY_SECRET: secret,
  };
  gateway = await startChild({
    dataDir: join(folder, 'data'),
    databaseUrl: database.url,
    setup: { client: { id: 'me', secret }, variables },
    bundled: true,
  });

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
});

test('the command line checks the plug-in, with its probe', async () => {
  const program = join(root, 'server/src/cli/crossward.js');
  const config = join(folder, 'gateway/crossward.yaml');
  const check = await run(process.execPath, [program, 'emr', 'check', '--config', config]);
  expect(check.stdout).toMatch(/^ {2}ok +services +The EHR lists \d+ services\.$/m);
  const args = ['conformance', '--config', join(folder, 'gateway/crossward.yaml'), '--only', 'patients', 'resources'];
  const { stdout } = await run(process.execPath, [program, ...args], { env: { ...process.env, MY_SECRET: secret } });
  expect(stdout).toMatch(/\d+ passed, 0 failed/);
});

/** Vitest behaves differently in a process of Vitest. */
function withoutVitest(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_ENV$)/.test(name)));
}
