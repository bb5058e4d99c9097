import { createHash, randomUUID } from 'node:crypto';
import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, readdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../server/src/db/database.ts';
import { pgliteDatabase } from '../../server/src/db/embedded-database.ts';
import { migrate } from '../../server/src/db/migrate.ts';
import { migrationSets } from '../../server/src/db/migration-sets.ts';
import { startPglite } from '../../server/src/db/start-pglite.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';

export interface TestDatabase {
  readonly database: Database;
  /** PostgreSQL only. */
  readonly url: string | undefined;
  /** Closes and deletes the database. Idempotent. */
  dispose(): Promise<void>;
}

/** Milliseconds. Long, for busy machines. */
export const connectTimeout = 60_000;

const sets = migrationSets(connectors);

/**
 * Creates a database: `migrated` with all migrations of the gateway and connectors, or `empty`. Call `dispose` at the end.
 * PGlite runs in memory.
 */
export async function createTestDatabase(
  kind: Database['kind'] = inject('databaseKind'),
  content: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  return kind === 'postgresql' ? await createPostgres(content) : await createPglite(content);
}

async function createPostgres(content: 'migrated' | 'empty'): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = content === 'migrated' ? await postgresTemplate() : 'template0';
  await asSuperuser((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`));
  const url = postgresUrl(name);
  const database = await openDatabase({ databaseUrl: url, dataDir: inject('runFolder'), connectTimeout });
  return {
    database,
    url,
    async dispose() {
      await database.close();
      await asSuperuser((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

function postgresUrl(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = database;
  return url.href;
}

async function asSuperuser<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

let template: Promise<string> | undefined;

/** Created by the first worker that needs it. The name depends on the migrations, so that watch mode notices changes. */
function postgresTemplate(): Promise<string> {
  template ??= asSuperuser(async (client) => {
    const name = `template_${await fingerprint()}`;
    await client.query('SELECT pg_advisory_lock(1)');
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      const unfinished = `${name}_unfinished`;
      await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 STRATEGY file_copy`);
      const database = await openDatabase({
        databaseUrl: postgresUrl(unfinished),
        dataDir: inject('runFolder'),
        connectTimeout,
      });
      await migrate(database, sets).finally(() => database.close());
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
    }
    return name;
  });
  return template;
}

type PGlite = ReturnType<typeof startPglite>;

/** Unused databases of this process. Starting one takes a second of computing. */
const unused: Record<'migrated' | 'empty', PGlite[]> = { migrated: [], empty: [] };

async function createPglite(content: 'migrated' | 'empty'): Promise<TestDatabase> {
  const pglite = unused[content].pop() ?? startPglite({ loadDataDir: await pgliteDump(content) });
  const before = await objectsIn(pglite);
  const database = await pgliteDatabase(pglite);
  let disposal: Promise<void> | undefined;
  async function dispose(): Promise<void> {
    await database.pool.end();
    if (pglite.closed) return;
    const isAsBefore = await (content === 'empty' ? withoutObjects(pglite) : emptied(pglite)).then(
      async () => (await objectsIn(pglite)) === before,
      () => false,
    );
    if (isAsBefore) unused[content].push(pglite);
    else await pglite.close();
  }
  return {
    database,
    url: undefined,
    dispose() {
      disposal ??= dispose();
      return disposal;
    },
  };
}

/** Leaves a database as it was created. */
async function withoutObjects(pglite: PGlite): Promise<void> {
  await pglite.exec('ROLLBACK');
  await pglite.exec('DISCARD ALL');
  await pglite.exec('DROP SCHEMA public CASCADE');
  await pglite.exec('CREATE SCHEMA public AUTHORIZATION pg_database_owner');
  await pglite.exec('GRANT USAGE ON SCHEMA public TO PUBLIC');
}

/** Leaves a database as the migrations made it, without sessions and rows. */
async function emptied(pglite: PGlite): Promise<void> {
  await pglite.exec('ROLLBACK');
  await pglite.exec('DISCARD ALL');
  const { rows } = await pglite.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
       AND tablename NOT IN ('schema_migrations', 'event_positions', 'audit_retention', 'history_progress',
         'audit_export', 'audit_export_positions')`,
  );
  // Without the triggers that protect the audit trail.
  await pglite.exec("SET session_replication_role = 'replica'");
  await pglite.exec(`TRUNCATE ${rows.map(({ name }) => name).join(', ')} RESTART IDENTITY CASCADE`);
  await pglite.exec('RESET session_replication_role');
  // Migrations insert their rows.
  await pglite.exec('UPDATE event_positions SET position = 0');
  await pglite.exec('UPDATE audit_export_positions SET last = 0');
  await pglite.exec('UPDATE audit_export SET exported = 0, writer_id = NULL, leased_until = now(), failure = NULL');
  await pglite.exec(
    "UPDATE history_progress SET (counted_until, merged_until) = (SELECT it, it FROM (SELECT date_trunc('hour', now()) - interval '31 days' AS it))",
  );
}

/** Differs if a test has changed a table, constraint, function or trigger. */
async function objectsIn(pglite: PGlite): Promise<string> {
  const catalogs = ['pg_class', 'pg_attribute', 'pg_constraint', 'pg_proc', 'pg_trigger', 'pg_type'];
  const counts = catalogs.map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`);
  return JSON.stringify((await pglite.query(`SELECT ${counts.join(', ')}`)).rows);
}

/** Created by the first worker that needs it. The others wait, because it takes seconds of computing. */
async function pgliteDump(content: 'migrated' | 'empty'): Promise<Blob> {
  const path = join(inject('runFolder'), `pglite-${content === 'empty' ? content : await fingerprint()}.tar`);
  while (!existsSync(path)) {
    const lock = `${path}.lock`;
    if (await isCreated(lock)) await createPgliteDump(path, content).finally(() => rmdir(lock));
    else await sleep(50);
  }
  return await openAsBlob(path);
}

/** Creates a folder. Returns `false` if it exists. */
async function isCreated(folder: string): Promise<boolean> {
  return await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

async function createPgliteDump(path: string, content: 'migrated' | 'empty'): Promise<void> {
  // Another worker may have created it since the caller looked.
  if (existsSync(path)) return;
  const pglite = startPglite({});
  const database = await pgliteDatabase(pglite);
  if (content === 'migrated') await migrate(database, sets);
  const dump = await pglite.dumpDataDir('none');
  await database.close();
  const unfinished = `${path}.unfinished`;
  await writeFile(unfinished, Buffer.from(await dump.arrayBuffer()));
  await rename(unfinished, path);
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, folder } of sets) {
    for (const file of (await readdir(folder)).sort()) {
      hash.update(`${name}/${file}\n`).update(await readFile(new URL(file, folder.href.replace(/\/?$/, '/'))));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
