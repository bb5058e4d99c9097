import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chown, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../processes/free-port.ts';
import { postgresBinaries, type User } from './postgres-binaries.ts';

const run = promisify(execFile);
const prefix = 'crossward-test-';
const ownerFile = 'owner.json';

interface Owner {
  readonly pid: number;
  readonly postgres?: { readonly url: string; readonly pid: number };
}

export interface TestServer {
  readonly url: string;
  /** Process id of the main process. The processes of connections are its children. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Creates a folder for one test run. Deletes the folders of killed runs and stops their servers. */
export async function createRunFolder(parent = tmpdir()): Promise<string> {
  const temp = await realpath(parent);
  const leftBehind = (await readdir(temp)).filter((name) => name.startsWith(prefix));
  await Promise.all(leftBehind.map((name) => removeIfOrphaned(join(temp, name))));
  const folder = await mkdtemp(join(temp, prefix));
  await writeOwner(folder, { pid: process.pid });
  return folder;
}

async function writeOwner(folder: string, owner: Owner): Promise<void> {
  await writeFile(join(folder, ownerFile), JSON.stringify(owner), { mode: 0o600 });
}

async function removeIfOrphaned(folder: string): Promise<void> {
  try {
    const owner: Owner = JSON.parse(await readFile(join(folder, ownerFile), 'utf8'));
    if (isAlive(owner.pid)) return;
    // Another process may have received this id.
    if (owner.postgres && (await dataDirectory(owner.postgres.url)) === join(folder, 'data')) {
      process.kill(owner.postgres.pid, 'SIGQUIT');
      await waitUntil(() => !isAlive(owner.postgres?.pid ?? 0));
    }
    await rm(folder, { recursive: true, force: true });
  } catch {
    // Belongs to another user, or is being created or deleted.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function dataDirectory(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0]?.data_directory;
  } catch {
    return undefined;
  } finally {
    await client.end();
  }
}

interface ServerOptions {
  /** Whether to shield it from Ctrl-C. */
  readonly detached?: boolean;
  /** Settings as `name=value`. Default: not crash-safe. */
  readonly settings?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
}

interface ClusterOptions {
  /** Where to copy the programs if the server's user cannot access the checkout. Default: the folder of the server. */
  readonly programs?: string | undefined;
}

const notCrashSafe = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** The files of a server, and what is needed to start it. */
export interface Cluster {
  readonly folder: string;
  readonly data: string;
  /** Folder of the programs. */
  readonly bin: string;
  readonly user: User;
  readonly password: string;
}

/** Starts PostgreSQL on a free port, with its files in the folder. For tests and benchmarks only. */
export async function startPostgres(
  folder: string,
  { programs, ...options }: ServerOptions & ClusterOptions = {},
): Promise<TestServer> {
  return await startServer(await createCluster(folder, { programs }), options);
}

/** Creates the files of a server. */
export async function createCluster(folder: string, { programs = folder }: ClusterOptions = {}): Promise<Cluster> {
  const user = await giveToServer(folder);
  if (programs !== folder) await giveToServer(programs);
  const bin = await postgresBinaries(programs, user);
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  // Built-in locale: the same sort order on every machine, without installed locales.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  await run(join(bin, 'initdb'), ['-D', data, '--no-sync', ...login, ...locale], { ...user, cwd: folder });
  return { folder, data, bin, user, password };
}

/** Copies the files of a server that is not running to another folder, which becomes that of a standby. */
export async function copyForStandby(cluster: Cluster, folder: string, primaryUrl: string): Promise<Cluster> {
  const copy = await copyFiles(cluster, folder);
  await run('touch', [join(copy.data, 'standby.signal')], { ...copy.user, cwd: folder });
  await appendFile(join(copy.data, 'postgresql.conf'), `primary_conninfo = '${primaryUrl}'\n`);
  return copy;
}

/**
 * Copies the files of a running server to another folder, from which another server starts with the state of the end of the copy
 * (PostgreSQL, "Making a Base Backup Using the Low Level API").
 */
export async function backUp(cluster: Cluster, { url }: TestServer, folder: string): Promise<Cluster> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('drill', fast => true)`);
    const copy = await copyFiles(cluster, folder);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    // The log that was written meanwhile.
    await run('cp', ['-Rp', join(cluster.data, 'pg_wal'), copy.data], { ...copy.user, cwd: folder });
    await rm(join(copy.data, 'postmaster.pid'), { force: true });
    await writeFile(join(copy.data, 'backup_label'), rows[0]?.labelfile ?? '', { mode: 0o600 });
    if (copy.user.uid !== undefined) await chown(join(copy.data, 'backup_label'), copy.user.uid, copy.user.gid ?? 0);
    return copy;
  } finally {
    await client.end();
  }
}

async function copyFiles(cluster: Cluster, folder: string): Promise<Cluster> {
  const user = await giveToServer(folder);
  const data = join(folder, 'data');
  // A running server deletes files meanwhile.
  await run('cp', ['-Rp', cluster.data, data], { ...user, cwd: folder }).catch((error: { stderr?: string }) => {
    if (!/No such file or directory/.test(error.stderr ?? '')) throw error;
  });
  return { ...cluster, folder, data };
}

/** Makes the folder accessible to the user that runs the server. */
async function giveToServer(folder: string): Promise<User> {
  const user = await serverUser();
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  return user;
}

/** Starts a server and waits until it accepts connections. */
export async function startServer(
  { folder, data, bin, user, password }: Cluster,
  { detached = false, settings = notCrashSafe, port: givenPort }: ServerOptions = {},
): Promise<TestServer> {
  const port = givenPort ?? (await freePort());
  const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  const allSettings = [
    ...settings,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    'shared_buffers=128MB',
    'log_min_messages=fatal',
  ];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), ...allSettings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: folder, detached, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  server.stderr.on('data', (text) => {
    output = `${output}${text}`.slice(-4_000);
  });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await writeOwner(folder, { pid: process.pid, postgres: { url, pid: server.pid ?? 0 } });
  await waitUntil(async () => {
    if (server.exitCode !== null || server.signalCode !== null) throw new Error(`PostgreSQL did not start: ${output}`);
    return (await dataDirectory(url)) !== undefined;
  });
  return {
    url,
    pid: server.pid ?? 0,
    async stop() {
      // No checkpoint: the files are deleted.
      if (platform() === 'win32') await run(join(bin, 'pg_ctl'), ['stop', '-D', data, '-m', 'immediate']);
      else server.kill('SIGQUIT');
      await exited;
    },
  };
}

/** The user that runs servers of tests: not root. */
export async function serverUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {};
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find(([user]) => user === name);
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error('PostgreSQL does not run as root, and no user "postgres" or "nobody" exists.');
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('The condition was not met within two minutes.');
    await sleep(25);
  }
}
