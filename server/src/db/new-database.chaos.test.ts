import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initialDatabase } from '../../bundle/initial-database.ts';
import { openEmbedded } from './embedded-database.ts';
import { startPglite } from './start-pglite.ts';

const prepared = Symbol.for('crossward.new-database');
const launcher = globalThis as { [prepared]?: Promise<string | undefined> };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-new-database-'));
});
afterEach(async () => {
  delete launcher[prepared];
  await rm(folder, { recursive: true, force: true });
});

async function tablesOf(dataDir: string): Promise<string[]> {
  const database = await openEmbedded(dataDir);
  try {
    const client = await database.pool.connect();
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    client.release();
    return rows.map(({ name }) => name);
  } finally {
    await database.close();
  }
}

test('the database of the launcher is moved into a new data directory, and never over an existing one', async () => {
  const source = join(folder, 'source');
  const pglite = startPglite({ dataDir: source });
  await pglite.exec('CREATE TABLE from_the_launcher ()');
  await pglite.close();
  await chmod(source, 0o755);
  launcher[prepared] = Promise.resolve(source);

  const dataDir = join(folder, 'data');
  expect(await tablesOf(dataDir)).toEqual(['from_the_launcher']);
  expect(existsSync(source)).toBe(false);
  expect((await stat(join(dataDir, 'pglite'))).mode & 0o777).toBe(0o700);

  await mkdir(source);
  expect(await tablesOf(dataDir)).toEqual(['from_the_launcher']);
  expect(existsSync(source)).toBe(true);
});

test('a new data directory gets a database of its own if another gateway has taken that of the launcher', async () => {
  launcher[prepared] = Promise.resolve(join(folder, 'taken'));
  expect(await tablesOf(join(folder, 'data'))).toEqual([]);
});

test('the stored database is what initdb of the installed PGlite makes: run npm run new-database', async () => {
  const stored = new Blob([zstdDecompressSync(await readFile(initialDatabase))]);
  expect(await describeCluster({ loadDataDir: stored })).toEqual(await describeCluster({}));
});

/** Everything that initdb decides, without what is random or a time. */
async function describeCluster(options: { readonly loadDataDir?: Blob }): Promise<unknown> {
  const pglite = startPglite(options);
  try {
    const texts = [
      'SELECT version(), catalog_version_no, pg_control_version FROM pg_control_system()',
      'SELECT datname, datcollate, datctype, encoding FROM pg_database ORDER BY datname',
      'SELECT rolname, rolpassword FROM pg_authid ORDER BY rolname',
      'SELECT nspname, relname, relkind FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace ORDER BY 1, 2',
      'SELECT proname, pg_get_function_identity_arguments(oid) FROM pg_proc ORDER BY 1, 2',
      'SELECT name, setting FROM pg_settings ORDER BY name',
      'SELECT extname FROM pg_extension ORDER BY extname',
    ];
    return await Promise.all(texts.map(async (text) => (await pglite.query(text)).rows));
  } finally {
    await pglite.close();
  }
}
