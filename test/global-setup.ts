import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import type { EhrKind } from './ehrs/under-test.ts';
import { createRunFolder, startPostgres } from './embedded-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** What `createTestDatabase` makes in this project. */
    databaseKind: 'postgresql' | 'pglite';
    /** What stands behind the gateway in this project. */
    ehrKind: EhrKind;
    /** The superuser's URL of the PostgreSQL of this run; empty in the project `pglite`. */
    postgresUrl: string;
    /** Deleted after the run. */
    runFolder: string;
  }
}

/** Makes a folder for the run and, in the project that needs it, starts a PostgreSQL there. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runFolder = await createRunFolder();
  const remove = () => rm(runFolder, { recursive: true, force: true });
  try {
    const server = project.config.provide.databaseKind === 'postgresql' ? await startPostgres(runFolder) : undefined;
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
