import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../processes/free-port.ts';
import { serverUser } from './embedded-postgres.ts';

/** The version of PgBouncer, such as `1.18`; `undefined` if it is not installed. */
export function pgbouncerVersion(): string | undefined {
  try {
    return /PgBouncer (\d+\.\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Starts PgBouncer in front of a database. Its connections to the server are made by the user of the URL.
 *
 * @param more settings
 */
export async function startPgbouncer(
  databaseUrl: string,
  poolMode: 'session' | 'transaction',
  more = '',
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(databaseUrl);
  const user = await serverUser();
  const folder = await mkdtemp(join(tmpdir(), 'crossward-pgbouncer-'));
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${decodeURIComponent(username)}" ""\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${poolMode}
default_pool_size = 10
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout
${more}
`,
  );
  await chmod(folder, 0o755);
  const server = spawn('pgbouncer', ['-q', settings], { ...user, stdio: 'ignore' });
  const exited = once(server, 'exit');
  while (!(await accepts(port))) {
    if (server.exitCode !== null) throw new Error('PgBouncer did not start.');
    await sleep(20);
  }
  return {
    url: `postgresql://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      server.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
