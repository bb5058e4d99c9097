import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createRunFolder, startPostgres } from '../../test/database/embedded-postgres.ts';
import { timed } from './added-time.ts';
import { median } from './statistics.ts';

/** A PostgreSQL server whose commits wait for the disk. */
export interface Postgres {
  /** For the files of a benchmark. */
  readonly folder: string;
  /** Process id of the server. Connections are its children. */
  readonly pid: number;
  readonly version: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** What the server has done since its start. */
  counts(): Promise<Counts>;
  /** Median duration of one INSERT and its commit, while nothing else is done. */
  loneCommitMilliseconds(): Promise<number>;
  stop(): Promise<void>;
}

export interface Counts {
  /** Statements of clients, with BEGIN and COMMIT. */
  readonly statements: number;
  /** Transactions that wrote something, so that their commit waits for the disk. */
  readonly commits: number;
}

/** Otherwise the defaults, so that checkpoints and autovacuum take their part of a round. */
const settings = ['shared_preload_libraries=pg_stat_statements'];

const loneCommits = 200;

export async function startDurablePostgres(): Promise<Postgres> {
  const folder = await createRunFolder();
  const server = await startPostgres(folder, { settings });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  const { rows } = await client.query('SHOW server_version');
  return {
    folder,
    pid: Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10),
    version: rows[0].server_version,
    async createDatabase() {
      const name = `bench_${randomUUID().replaceAll('-', '')}`;
      await client.query(`CREATE DATABASE ${name}`);
      const url = new URL(server.url);
      url.pathname = name;
      return url.href;
    },
    async counts() {
      const { rows } = await client.query(`
        SELECT sum(calls)::float AS statements, pg_snapshot_xmax(pg_current_snapshot())::text::float AS commits
        FROM pg_stat_statements WHERE toplevel`);
      return rows[0];
    },
    async loneCommitMilliseconds() {
      await client.query('CREATE TABLE IF NOT EXISTS lone (id uuid PRIMARY KEY)');
      const durations: number[] = [];
      for (let n = 0; n < loneCommits; n++)
        durations.push(await timed(() => client.query('INSERT INTO lone VALUES (gen_random_uuid())')));
      return median(durations);
    },
    async stop() {
      await client.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
/** Runs SQL statements, one after the other. */
export async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The rows of a query. The functions of `pg_stat_statements` are in the database from the first call on. */
export async function select<Row extends pg.QueryResultRow>(url: string, query: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    return (await client.query<Row>(query)).rows;
  } finally {
    await client.end();
  }
}
