import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from './database/database.ts';
import { startChild } from './processes/child-gateway.ts';
import { oslo } from './requests/bookings.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const crossward = join(root, 'server', 'src', 'cli', 'crossward.js');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-bundle-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the bundle migrates a database, books an appointment, serves its documents, and its command line works', async () => {
  const database = await createTestDatabase('postgresql', 'empty');
  const gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl: database.url });
  try {
    const booking = {
      patient_id: 'p-3',
      resource_id: 'r-1',
      healthcare_service_id: 'consultation',
      start_time: '2030-03-15T09:00:00',
      end_time: '2030-03-15T09:30:00',
    };
    const booked = await gateway.send({ method: 'POST', path: `${oslo}/appointments`, body: booking });
    expect([booked?.status, booked?.body]).toMatchObject([201, { status: 'booked' }]);
    for (const path of ['/docs/', '/docs/js/scalar.js', '/api/openapi.json', '/api/openapi.yaml', '/health/ready']) {
      expect((await fetch(gateway.address + path)).status, path).toBe(200);
    }
    const env = { ...process.env, DATABASE_URL: database.url };
    const { stdout } = await run(process.execPath, [crossward, 'secret-keys', 'list'], { env });
    expect(stdout).toContain('in use');
  } finally {
    await gateway.kill();
    await database.dispose();
  }
});

test('the bundle starts on the embedded database', async () => {
  const gateway = await startChild({ dataDir: join(folder, 'data') });
  try {
    expect((await fetch(`${gateway.address}/health/ready`)).status).toBe(200);
  } finally {
    await gateway.kill();
  }
});

/** A repository with the launcher and one source, without the bundler. */
async function smallRepository(): Promise<{ start(): Promise<{ stdout: string; stderr: string }> }> {
  await cp(join(root, 'server', 'bundle'), join(folder, 'server', 'bundle'), { recursive: true });
  for (const name of ['server', 'connector-kit', 'connectors/sandbox']) {
    await mkdir(join(folder, name, 'src'), { recursive: true });
    await writeFile(join(folder, name, 'package.json'), '{ "type": "module" }');
  }
  await writeFile(join(folder, 'package-lock.json'), '{}');
  await writeFile(join(folder, 'server', 'src', 'main.ts'), "process.stdout.write('from the sources' as string)");
  return { start: () => run(process.execPath, [join(folder, 'server', 'bundle', 'gateway.js')]) };
}

test('runs from the sources if no bundle can be made, and says why', async () => {
  const { stdout, stderr } = await (await smallRepository()).start();
  expect(stdout).toBe('from the sources');
  expect(stderr).toMatch(/runs from its sources.*: Error.*'rolldown'/);
});

test.each([
  ['a source', 'connectors/sandbox/src/new.ts'],
  ['the installed packages', 'node_modules/.package-lock.json'],
])('does not run the bundle of before if %s changed', async (_, changed) => {
  const { start } = await smallRepository();
  const { bundleFolder } = await import(join(root, 'server', 'bundle', 'folder.js'));
  const bundle = bundleFolder(folder);
  await mkdir(bundle, { recursive: true });
  await writeFile(join(bundle, 'gateway.js'), "process.stdout.write('from the bundle')");
  expect(await start()).toEqual({ stdout: 'from the bundle', stderr: '' });
  await mkdir(join(folder, changed, '..'), { recursive: true });
  await writeFile(join(folder, changed), 'export {};');
  expect((await start()).stdout).toBe('from the sources');
});
