import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { createRunFolder, startPostgres, type TestServer } from '../../test/database/embedded-postgres.ts';
import { freePort } from '../../test/processes/free-port.ts';
import { addPeople, type Hospital as Contents } from './people.ts';
import { installGnuHealth, NotPossible } from './python.ts';

const run = promisify(execFile);
const database = 'health';

/** A GNU Health that runs, with the ids of what is in it. */
export interface Hospital extends Contents {
  readonly url: string;
  readonly database: string;
  /** The user of the gateway. */
  readonly user: string;
  readonly password: string;
  /** Somebody at the desk. */
  readonly desk: { readonly user: string; readonly password: string };
  stop(): Promise<void>;
}

interface Options {
  /** Where the packages are installed, once. */
  readonly packages: string;
  readonly report: (step: string) => void;
  /** Starts of further free appointments. */
  readonly alsoFree?: readonly Date[];
  /** Default: a free port. */
  readonly port?: number;
  /** Of the gateway's user. Default: a new one. */
  readonly password?: string;
}

/**
 * Installs GNU Health if needed, and starts it with an empty PostgreSQL, synthetic people and free appointments.
 *
 * @throws NotPossible if this machine lacks something
 */
export async function startHospital({ packages, report, alsoFree = [], ...options }: Options): Promise<Hospital> {
  const bin = await installGnuHealth(packages, report);
  const folder = await createRunFolder();
  report('Starting PostgreSQL.');
  const postgres = await startPostgres(folder).catch((error: unknown) => {
    throw new NotPossible(`PostgreSQL cannot be started: ${error instanceof Error ? error.message : error}`);
  });
  let tryton: ChildProcess | undefined;
  // Both get their signal before anything is awaited, so that a process that exits can call it.
  const stop = async () => {
    const exited = tryton && tryton.exitCode === null ? once(tryton, 'exit') : undefined;
    tryton?.kill('SIGKILL');
    await Promise.all([exited, postgres.stop()]);
  };
  try {
    await createDatabase(postgres);
    const port = options.port ?? (await freePort());
    const admin = newPassword();
    const settings = await configure(folder, postgres, port, admin);
    report('Creating the database of GNU Health, which takes a minute.');
    await createTables(bin, folder, settings);
    report('Starting GNU Health.');
    tryton = spawn(join(bin, 'trytond'), ['-c', settings, '-d', database], { stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, tryton);
    report('Filling it with synthetic people.');
    const password = options.password ?? newPassword();
    const deskPassword = newPassword();
    const logins = { crossward: password, desk: deskPassword };
    const contents = await addPeople({ url, database, admin, logins, alsoFree });
    const desk = { user: 'desk', password: deskPassword };
    return { ...contents, url, database, user: 'crossward', password, desk, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function newPassword(): string {
  return randomBytes(12).toString('base64url');
}

async function createDatabase({ url }: TestServer): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
}

/** Tryton adds the name of the database to the URI. */
async function configure(folder: string, { url }: TestServer, port: number, admin: string): Promise<string> {
  const home = join(folder, 'tryton');
  await mkdir(home, { mode: 0o700 });
  const uri = url.slice(0, url.lastIndexOf('/') + 1);
  const text = `[database]\nuri = ${uri}\npath = ${home}\n\n[web]\nlisten = 127.0.0.1:${port}\n`;
  const path = join(home, 'trytond.conf');
  await writeFile(path, text, { mode: 0o600 });
  await writeFile(join(home, 'admin'), `${admin}\n`, { mode: 0o600 });
  return path;
}

async function createTables(bin: string, folder: string, settings: string): Promise<void> {
  const admin = join(bin, 'trytond-admin');
  const env = { ...process.env, TRYTONPASSFILE: join(folder, 'tryton', 'admin') };
  const common = ['-c', settings, '-d', database];
  await run(admin, [...common, '--all', '--email', 'admin@example.org', '-l', 'en'], { env });
  await run(admin, [...common, '-u', 'health', 'health_calendar', '--activate-dependencies'], { env });
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`GNU Health ended with ${server.exitCode}`);
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await pause(100);
  }
}
