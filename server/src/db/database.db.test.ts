import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { freePort } from '../../../test/processes/free-port.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { type Database, openDatabase } from './database.ts';
import { isConnectionFailure } from './errors.ts';

const kind = inject('databaseKind');
const patience = { timeout: 120_000, interval: 5 };

async function rows<Row>(database: Database, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = await database.pool.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    client.release();
  }
}

if (kind === 'postgresql')
  describe('PostgreSQL', () => {
    let test: TestDatabase;
    let dataDir: string;
    beforeAll(async () => {
      test = await createTestDatabase(undefined, 'empty');
      dataDir = await mkdtemp(join(tmpdir(), 'crossward-'));
    });
    afterAll(async () => {
      await test.dispose();
      await rm(dataDir, { recursive: true });
    });

    /** Opens the database, which must fail, and returns everything that the error contains. */
    async function failure(databaseUrl: string, connectTimeout = patience.timeout): Promise<string> {
      const error = await openDatabase({ databaseUrl, dataDir, connectTimeout }).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(error?.name).toBe('DatabaseError');
      const reported = JSON.stringify([error?.message, error?.stack, error?.cause, { ...error }]);
      for (const secret of ['hunter2', databaseUrl]) expect(reported).not.toContain(secret);
      return error?.message ?? '';
    }
    const changed = (change: (url: URL) => void) => {
      const url = new URL(test.url ?? '');
      url.password = 'hunter2';
      change(url);
      return url.href;
    };

    it('reports why it cannot connect, without URL and password', async () => {
      expect(await failure(changed(() => undefined))).toMatch(
        /Cannot connect to PostgreSQL: password authentication failed/,
      );
      expect(await failure('mysql://me:hunter2@127.0.0.1/x')).toMatch(/must begin with postgresql/);
      expect(await failure('postgresql://me:hunter2@[::/x')).toMatch(/not a valid URL/);
      expect(await failure('postgresql://me:hunter2%zz@127.0.0.1/x')).toMatch(/database URL|Cannot connect/);
      expect(await failure('postgresql://me:hunter2@nowhere.invalid/x')).toMatch(
        /Cannot connect to PostgreSQL: .*nowhere/,
      );
      const url = new URL(test.url ?? '');
      url.pathname = 'absent';
      expect(await failure(url.href)).toMatch(/database "absent" does not exist/);
    });

    it('reports a rejected connection and a time-out', async () => {
      const port = await freePort();
      const silent = createServer((socket) => socket.resume());
      await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
      const url = changed((url) => {
        url.port = String(port);
      });
      expect(await failure(url, 1_000)).toBe(
        `Cannot connect to PostgreSQL: no response from ${new URL(url).host} in time`,
      );
      await new Promise((resolve) => silent.close(resolve));
      expect(await failure(url)).toBe(`Cannot connect to PostgreSQL: connection refused by ${new URL(url).host}`);
    });

    it('rejects a server that is too old', async () => {
      const message = (type: string, body: string | Buffer) => {
        const length = Buffer.alloc(4);
        length.writeInt32BE(Buffer.byteLength(body) + 4);
        return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
      };
      const row = [
        message('T', `\0\x01server_version_num\0${'\0'.repeat(18)}`),
        message('D', '\0\x01\0\0\0\x06140012'),
      ];
      const ready = message('Z', 'I');
      const old = createServer((socket) => {
        socket.once('data', () => {
          socket.write(Buffer.concat([message('R', '\0\0\0\0'), ready]));
          socket.on('data', (query) => {
            const response = query.includes('SHOW') ? row : [];
            socket.write(Buffer.concat([...response, message('C', 'SET\0'), ready]));
          });
        });
      });
      await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
      const url = changed((url) => {
        url.port = String((old.address() as AddressInfo).port);
      });
      expect(await failure(url)).toBe('PostgreSQL 15 or newer is needed; the server is version 14.');
      await new Promise((resolve) => old.close(resolve));
    });

    it('parameters in the URL override the settings', async () => {
      const databaseUrl = `${test.url}?statement_timeout=1000`;
      const database = await openDatabase({ databaseUrl, dataDir, connectTimeout: patience.timeout });
      await expect(rows(database, 'SELECT pg_sleep(20)')).rejects.toMatchObject({ code: '57014' });
      await database.close();
    });

    it('does not touch the data directory', async () => {
      expect(await readdir(dataDir)).toEqual([]);
    });

    it('configures its connections', async () => {
      const [settings] = await rows(
        test.database,
        `SELECT current_setting('application_name') AS name, current_setting('statement_timeout') AS statement,
              current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle,
              current_setting('TimeZone') AS zone`,
      );
      expect(settings).toEqual({ name: 'crossward', statement: '30s', lock: '5s', idle: '5s', zone: 'UTC' });
    });

    it('survives lost connections, idle and in use', async () => {
      const { database } = test;
      const victims = await Promise.all([database.pool.connect(), database.pool.connect()]);
      const pids = await Promise.all(
        victims.map(
          async (client) => (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid,
        ),
      );
      const [atRest, atWork] = victims;
      atRest?.release();
      const working = expect(atWork?.query('SELECT pg_sleep(60)')).rejects.toSatisfy(isConnectionFailure);
      const killer = await openDatabase({ databaseUrl: test.url, dataDir, connectTimeout: patience.timeout });
      await vi.waitFor(async () => {
        const sleeping = await rows(
          killer,
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)'",
        );
        expect(sleeping).toHaveLength(1);
      }, patience);
      await rows(killer, 'SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [pids]);
      await killer.close();
      await working;
      atWork?.release();
      await vi.waitFor(() => database.ping(), patience);
    });

    it('limits connections and the wait for them', async () => {
      const database = await openDatabase({ databaseUrl: test.url, dataDir, maxConnections: 1, connectTimeout: 5_000 });
      const client = await database.pool.connect();
      await expect(database.ping()).rejects.toSatisfy(isConnectionFailure);
      client.release();
      await database.ping();
      await database.close();
    });
  });

if (kind === 'pglite')
  describe('PGlite on disk', () => {
    const folders: string[] = [];
    const children: ChildProcess[] = [];
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
    });
    const newFolder = async () => {
      const folder = await mkdtemp(join(tmpdir(), 'crossward-'));
      folders.push(folder);
      return folder;
    };
    let initialised: string | undefined;
    afterAll(async () => {
      if (initialised !== undefined) await rm(initialised, { recursive: true });
    });
    /** A folder with a database. Copied, because creating one takes seconds of processor time. */
    const folderWithDatabase = async () => {
      if (initialised === undefined) {
        initialised = await mkdtemp(join(tmpdir(), 'crossward-'));
        await (await openDatabase({ dataDir: initialised })).close();
      }
      const folder = await newFolder();
      await cp(initialised, folder, { recursive: true });
      return folder;
    };

    /** Runs the code in its own process, and returns its output lines as they arrive. */
    function start(code: string): { child: ChildProcess; lines: AsyncIterator<string> } {
      const imports = `
      import { openDatabase } from '${new URL('database.ts', import.meta.url)}';
      import { lockDataDir } from '${new URL('data-dir-lock.ts', import.meta.url)}';
    `;
      const child = spawn(process.execPath, ['--input-type=module', '-e', imports + code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
    }
    async function kill(child: ChildProcess): Promise<void> {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    }

    it('keeps committed data if its process is killed', async () => {
      const dataDir = await folderWithDatabase();
      let stored = 0;
      for (let round = 1; round <= 2; round++) {
        const { child, lines } = start(`
        const { pool } = await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
        const client = await pool.connect();
        await client.query('CREATE TABLE IF NOT EXISTS kept (id integer PRIMARY KEY)');
        for (let id = ${stored + 1000}; ; id++) {
          await client.query('INSERT INTO kept VALUES ($1)', [id]);
          process.stdout.write(id + '\\n');
        }
      `);
        const first = stored + 1000;
        for (let count = 0; count < 200; count++) stored = Number((await lines.next()).value);
        await kill(child);
        for (let line = await lines.next(); !line.done; line = await lines.next()) stored = Number(line.value);
        const database = await openDatabase({ dataDir });
        const kept = new Set((await rows<{ id: number }>(database, 'SELECT id FROM kept')).map(({ id }) => id));
        await database.close();
        for (let id = first; id <= stored; id++) expect(kept.has(id), `row ${id} of round ${round}`).toBe(true);
      }
    });

    it('starts after a process was killed during its first start', async () => {
      const dataDir = await newFolder();
      const { child } = start(`await openDatabase({ dataDir: ${JSON.stringify(dataDir)} })`);
      await vi.waitFor(async () => expect(await readdir(join(dataDir, 'pglite'))).toContain('base'), patience);
      await kill(child);
      const database = await openDatabase({ dataDir });
      await database.ping();
      await database.close();
    });

    // Windows uses access control lists instead of file modes.
    it.skipIf(process.platform === 'win32')('closes its folder, and the files, to every other user', async () => {
      const modeOf = async (...names: string[]) => ((await stat(join(dataDir, ...names))).mode & 0o777).toString(8);
      const dataDir = await newFolder();
      await chmod(dataDir, 0o755);
      await (await openDatabase({ dataDir })).close();
      expect([await modeOf(), await modeOf('pglite')]).toEqual(['700', '700']);
      await chmod(dataDir, 0o777);
      await chmod(join(dataDir, 'pglite'), 0o755);
      await (await openDatabase({ dataDir })).close();
      expect([await modeOf(), await modeOf('pglite')]).toEqual(['700', '700']);
    });

    it('cannot open its folder twice', async () => {
      const dataDir = await folderWithDatabase();
      const database = await openDatabase({ dataDir });
      await expect(openDatabase({ dataDir })).rejects.toThrow(
        `Another Crossward process uses the data directory ${dataDir}; stop it, or set CROSSWARD_DATA_DIR to another folder.`,
      );
      await database.close();
      await database.close();
      await (await openDatabase({ dataDir })).close();
    });

    it('unlocks the folder if it cannot start', async () => {
      const dataDir = await newFolder();
      await writeFile(join(dataDir, 'pglite'), 'no folder');
      await expect(openDatabase({ dataDir })).rejects.toThrow();
      await (await lockDataDir(dataDir)).release();
    });

    it.runIf(process.platform === 'linux')('detects whether a process of another container is alive', async () => {
      const dataDir = await newFolder();
      const other = createServer();
      const path = join(dataDir, 'lock.sock');
      await new Promise<void>((resolve) => other.listen(path, resolve));
      await expect(lockDataDir(dataDir)).rejects.toThrow('Another Crossward process uses the data directory');
      await new Promise((resolve) => other.close(resolve));
      await (await lockDataDir(dataDir)).release();
      expect(await readdir(dataDir)).toEqual([]);
    });

    it('locks the folder against other processes until the process ends', async () => {
      const dataDir = await newFolder();
      const lock = `const lock = await lockDataDir(${JSON.stringify(dataDir)}).catch((error) => error);`;
      const holder = start(`${lock} console.log('release' in lock); setInterval(() => undefined, 1000);`);
      expect((await holder.lines.next()).value).toBe('true');
      await expect(lockDataDir(dataDir)).rejects.toThrow('Another Crossward process uses the data directory');
      await kill(holder.child);
      const mine = await lockDataDir(dataDir);
      const other = start(`${lock} console.log(lock.message);`);
      expect((await other.lines.next()).value).toMatch('Another Crossward process uses the data directory');
      await mine.release();
      const next = start(`${lock} console.log('release' in lock);`);
      expect((await next.lines.next()).value).toBe('true');
    });
  });
