// Creates an empty embedded database, if the gateway is going to need one: node new-database.ts <folder>
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { readEnvironment } from '../src/config/environment.ts';
import { embeddedFiles } from '../src/db/embedded-files.ts';

const target = process.argv[2] ?? '';
const { databaseUrl, dataDirectory } = readEnvironment();
if (databaseUrl === undefined && !existsSync(embeddedFiles(dataDirectory)) && !existsSync(target)) await create();

async function create(): Promise<void> {
  const { startPglite } = await import('../src/db/start-pglite.ts');
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const pglite = startPglite({ dataDir: draft });
    await pglite.waitReady;
    await pglite.close();
    // Only a complete database gets the name. Another process may have been faster.
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
