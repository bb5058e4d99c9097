import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { createRunFolder, startPostgres } from '../database/embedded-postgres.ts';
import { createFolderInMemory } from '../database/folder-in-memory.ts';
import type { EhrKind } from '../ehrs/under-test.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database that `createTestDatabase` creates in this project. */
    databaseKind: 'postgresql' | 'pglite';
    /** The EHR behind the gateway in this project. */
    ehrKind: EhrKind;
    /** The superuser's URL of PostgreSQL in this run. Empty if no project of the run needs it. */
    postgresUrl: string;
    /** Deleted after the run. */
    runFolder: string;
  }
}

const bundler = fileURLToPath(new URL('../../server/bundle/prepare.js', import.meta.url));
/** Projects whose tests start many gateways in processes of their own, at the same time. */
const withProcesses = /^chaos/;

/**
 * Creates a folder for the run and, if a project of the run needs it, starts PostgreSQL: in memory if there is enough, because
 * each gateway's database is hundreds of files. Makes the bundle once, before many processes would.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (project.vitest.projects.some(({ name }) => withProcesses.test(name)))
    await promisify(execFile)(process.execPath, [bundler]);
  const needsPostgres = project.vitest.projects.some(({ config }) => config.provide.databaseKind === 'postgresql');
  const runFolder = await createRunFolder();
  const inMemory = needsPostgres ? await createFolderInMemory() : undefined;
  const remove = async () => {
    for (const folder of [inMemory, runFolder]) if (folder) await rm(folder, { recursive: true, force: true });
  };
  try {
    const server = needsPostgres ? await startPostgres(inMemory ?? runFolder, { programs: runFolder }) : undefined;
    project.provide('runFolder', runFolder);
    project.provide('postgresUrl', server?.url ?? '');
    return async () => {
      await server?.stop();
      await remove();
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
