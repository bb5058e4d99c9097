import { rm } from 'node:fs/promises';
import pg from 'pg';
import { freePort } from '../processes/free-port.ts';
import { copyForStandby, createCluster, createRunFolder, startServer, type TestServer } from './embedded-postgres.ts';

/** A PostgreSQL server and its synchronous standby. */
export interface PostgresPair {
  /** Names both servers, the standby first. */
  readonly url: string;
  /** Names the primary alone. */
  readonly primaryUrl: string;
  /** Kills the main process of the primary. The processes of its connections end with it. */
  killPrimary(): void;
  /** Stops all processes of the primary where they are. Connections stay open without a response. */
  freezePrimary(): Promise<void>;
  /** Stops all processes of the standby where they are. Commits on the primary do not respond until it goes on. */
  pauseStandby(): Promise<void>;
  resumeStandby(): void;
  /** Makes the standby the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** A commit waits until it is written, and for a standby, but not for the disk: it survives a crash of PostgreSQL alone. */
export const waitingForTheirWrite = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=on'];
const settings = [...waitingForTheirWrite, 'wal_keep_size=512MB'];

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
  const paused = new Set<number>();
  const hosts = [standby, primary].map(({ url }) => new URL(url).host).join(',');
  const primaryOfGateway = new URL(primary.url);
  primaryOfGateway.pathname = 'crossward';
  return {
    primaryUrl: primaryOfGateway.href,
    url: `postgresql://postgres:${cluster.password}@${hosts}/crossward?target_session_attrs=read-write`,
    killPrimary: () => void process.kill(primary.pid, 'SIGKILL'),
    freezePrimary: () => freeze(primary, frozen),
    pauseStandby: () => freeze(standby, paused),
    resumeStandby() {
      signal(paused, 'SIGCONT');
      paused.clear();
    },
    async promote() {
      await query(standby.url, 'SELECT pg_promote()');
    },
    async stop() {
      signal(paused, 'SIGCONT');
      signal(frozen, 'SIGKILL');
      await Promise.all([primary.stop(), standby.stop()]);
      for (const path of [folder, standbyFolder]) await rm(path, { recursive: true, force: true });
    },
  };
}

/** Stops all processes of a server, and adds their ids. */
async function freeze({ url, pid: main }: TestServer, pids: Set<number>): Promise<void> {
  const rows = await query<{ pid: number }>(url, 'SELECT pid FROM pg_stat_activity');
  for (const pid of [main, ...rows.map((row) => row.pid)]) pids.add(pid);
  signal(pids, 'SIGSTOP');
}

function signal(pids: ReadonlySet<number>, name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended since.
    }
  }
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
