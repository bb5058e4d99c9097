// Creates an embedded database with the gateway's tables, if the gateway is going to need one: node new-database.ts <folder>
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import { readEnvironment } from '../src/config/environment/environment.ts';
import { embeddedFiles } from '../src/db/embedded-files.ts';
import { initialDatabase } from './initial-database.ts';

const target = process.argv[2] ?? '';
const { databaseUrl, dataDirectory } = readEnvironment();
if (databaseUrl === undefined && !existsSync(embeddedFiles(dataDirectory)) && !existsSync(target)) await create();

async function create(): Promise<void> {
  const [{ startPglite }, { pgliteDatabase }, { migrate }, { migrationSets }] = await Promise.all([
    import('../src/db/start-pglite.ts'),
    import('../src/db/embedded-database.ts'),
    import('../src/db/migrate.ts'),
    import('../src/db/migration-sets.ts'),
  ]);
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const initial = new Blob([zstdDecompressSync(await readFile(initialDatabase))]);
    const database = await pgliteDatabase(startPglite({ dataDir: draft, loadDataDir: initial }));
    // The gateway applies those of its connectors.
    await migrate(database, migrationSets([]));
    await database.close();
    // Only a complete database gets the name. Another process may have been faster.
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
