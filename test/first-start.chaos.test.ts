import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPglite } from '../server/src/db/start-pglite.ts';
import { startChild } from './processes/child-gateway.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

/** A repository with the same sources, which has not been started yet. */
let repository: string;
let bundle: string;
beforeAll(async () => {
  repository = await mkdtemp(join(tmpdir(), 'crossward-first-start-'));
  await mkdir(join(repository, 'server'));
  await cp(join(root, 'server', 'bundle'), join(repository, 'server', 'bundle'), { recursive: true });
  for (const name of [
    'server/src',
    'server/package.json',
    'server/node.sh',
    'connector-kit',
    'connectors',
    'node_modules',
  ]) {
    await symlink(join(root, name), join(repository, name));
  }
  await cp(join(root, 'package.json'), join(repository, 'package.json'));
  const { bundleFolder } = await import(join(repository, 'server', 'bundle', 'folder.js'));
  bundle = bundleFolder(repository);
});
afterAll(() => rm(repository, { recursive: true, force: true }));

const program = (name: string) => join(repository, 'server', 'bundle', name);

test('a port that is in use is reported before anything is prepared', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { PATH: process.env.PATH, PORT: String(port), CROSSWARD_DATA_DIR: join(repository, 'data') };
  try {
    const { stderr } = await run(process.execPath, [program('gateway.js')], { env }).then(
      () => ({ stderr: 'started' }),
      (error) => error,
    );
    expect(stderr).toMatch(/^Crossward cannot start\.\nPORT: .* in use .* set PORT /);
    expect(existsSync(join(repository, 'server', 'dist'))).toBe(false);
  } finally {
    server.close();
  }
});

test('a database is created next to the bundle, for a gateway that needs one', async () => {
  const prepare = (variables: Readonly<Record<string, string>>) =>
    run(process.execPath, [program('new-database.ts'), `${bundle}.database`], {
      env: { PATH: process.env.PATH, CROSSWARD_DATA_DIR: join(repository, 'data'), ...variables },
    });
  await prepare({ DATABASE_URL: 'postgresql://127.0.0.1/crossward' });
  expect(existsSync(`${bundle}.database`)).toBe(false);
  await prepare({});
  expect((await stat(`${bundle}.database`)).mode & 0o777).toBe(0o700);
  const copy = join(repository, 'copy');
  await cp(`${bundle}.database`, copy, { recursive: true });
  const pglite = startPglite({ dataDir: copy });
  const { rows } = await pglite.query('SELECT count(*)::int AS migrations FROM schema_migrations');
  await pglite.close();
  expect(rows).toEqual([{ migrations: (await readdir(join(root, 'server', 'src', 'db', 'migrations'))).length }]);
  expect(await readdir(join(bundle, '..'))).toEqual([`${bundle}.database`.slice(join(bundle, '..', '/').length)]);
});

test('the first start makes the bundle and moves the database into the data directory', async () => {
  const dataDir = join(repository, 'data');
  await writeFile(join(`${bundle}.database`, 'marker'), '');
  const gateway = await startChild({
    dataDir,
    command: ['sh', join(repository, 'server', 'node.sh'), program('gateway.js')],
  });
  try {
    expect((await fetch(`${gateway.address}/health/ready`)).status).toBe(200);
    expect(existsSync(join(dataDir, 'pglite', 'marker'))).toBe(true);
    expect(existsSync(`${bundle}.database`)).toBe(false);
    expect(existsSync(join(bundle, 'gateway.js'))).toBe(true);
  } finally {
    await gateway.kill();
  }
});
