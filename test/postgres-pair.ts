import { rm } from 'node:fs/promises';
import pg from 'pg';
import { copyForStandby, createCluster, createRunFolder, startServer } from './embedded-postgres.ts';
import { freePort } from './free-port.ts';

/** A PostgreSQL server and its synchronous standby. */
export interface PostgresPair {
  /** Names both servers, the standby first. */
  readonly url: string;
  /** Kills the main process of the primary. The processes of its connections end with it. */
  killPrimary(): void;
  /** Stops all processes of the primary where they are. Connections stay open without a response. */
  freezePrimary(): Promise<void>;
  /** Makes the standby the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

// A commit waits for the standby, not for the disk.
const settings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=on', 'wal_keep_size=512MB'];

export async function startPostgresPair(): Promise<PostgresPair> {
  const [folder, standbyFolder] = [await createRunFolder(), await createRunFolder()];
  const cluster = await createCluster(folder);
  const port = await freePort();
  const primaryUrl = `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/postgres`;
  const standbyCluster = await copyForStandby(cluster, standbyFolder, primaryUrl);
  const primary = await startServer(cluster, { settings, port });
  const standby = await startServer(standbyCluster, { settings });
  await query(primary.url, 'CREATE DATABASE crossward');
  await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await query(primary.url, 'SELECT pg_reload_conf()');
  while ((await query(primary.url, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 0);
  const frozen = new Set<number>();
  const hosts = [standby, primary].map(({ url }) => new URL(url).host).join(',');
  return {
    url: `postgresql://postgres:${cluster.password}@${hosts}/crossward?target_session_attrs=read-write`,
    killPrimary: () => void process.kill(primary.pid, 'SIGKILL'),
    async freezePrimary() {
      const rows = await query<{ pid: number }>(primary.url, 'SELECT pid FROM pg_stat_activity');
      process.kill(primary.pid, 'SIGSTOP');
      frozen.add(primary.pid);
      for (const { pid } of rows) {
        try {
          process.kill(pid, 'SIGSTOP');
          frozen.add(pid);
        } catch {
          // It has ended since.
        }
      }
    },
    async promote() {
      await query(standby.url, 'SELECT pg_promote()');
    },
    async stop() {
      for (const pid of frozen) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended since.
        }
      }
      await Promise.all([primary.stop(), standby.stop()]);
      for (const path of [folder, standbyFolder]) await rm(path, { recursive: true, force: true });
    },
  };
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
