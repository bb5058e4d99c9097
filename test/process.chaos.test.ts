import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from './database/database.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import type { Appointment } from './requests/bookings.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** What `npm start` runs. */
const npmStart = [fileOf('../server/node.sh'), fileOf('../server/bundle/gateway.js')];

interface Child {
  readonly process: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Waits until the output matches. Rejects if the process ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts faster than the embedded database, which only tests of its data directory use. */
const onPostgres = { DATABASE_URL: '' };
let disposeDatabase: () => Promise<void>;
let dataDir: string;
const children: Child[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'crossward-process-'));
  const { url = '', dispose } = await createTestDatabase('postgresql');
  onPostgres.DATABASE_URL = url;
  disposeDatabase = dispose;
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL');
    await child.ended;
  }
  await disposeDatabase();
  await rm(dataDir, { recursive: true, force: true });
});

function start(variables: Record<string, string> = {}): Child {
  const process_ = spawn('sh', npmStart, {
    env: { PATH: process.env.PATH, PORT: '0', CROSSWARD_DATA_DIR: dataDir, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  process_.stdout?.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  process_.stderr?.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    process_.once('close', (code, signal) => resolve({ code, signal }));
  });
  const child: Child = {
    process: process_,
    output,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const match = () => {
          const found = pattern.exec(output.stdout);
          if (found) resolve(found);
        };
        match();
        process_.stdout?.on('data', match);
        process_.once('close', () => reject(new Error(`Ended before ${pattern}: ${output.stdout}${output.stderr}`)));
      }),
  };
  children.push(child);
  return child;
}

/** The request that the printed command sends, after shell substitution of `$(…)`. */
async function printedRequest(child: Child): Promise<{ url: string; init: RequestInit }> {
  const [command] = await child.until(/curl .*? -d '.*?'\n/s);
  const words = command.replaceAll(/ \\\n\s*/g, ' ');
  const url = /http:[^\s']+/.exec(words)?.[0] ?? '';
  const headers = Object.fromEntries(
    [...words.matchAll(/-H (?:"(.*?[^\\])"|'(.*?)')(?= -)/g)].map(([, double, single]) => {
      const text = (double ?? single ?? '').replaceAll(/\$\(node -p '(.*?)'\)/g, (_, expression) =>
        execFileSync(process.execPath, ['-p', expression], { encoding: 'utf8' }).trim(),
      );
      const [name = '', ...value] = text.split(': ');
      return [name, value.join(': ')];
    }),
  );
  const body = / -d '(.*)'/s.exec(words)?.[1] ?? '';
  return { url, init: { method: 'POST', headers, body } };
}

async function readClient(): Promise<string> {
  return await readFile(join(dataDir, 'demo-client.json'), 'utf8');
}

async function headersOf(): Promise<Record<string, string>> {
  const { client_id, client_secret } = JSON.parse(await readClient());
  return { 'x-service-client-id': client_id, 'x-service-client-secret': client_secret };
}

/** Signals within half a second are one, which somebody has passed on. */
const laterThanTheSameSignal = () => setTimeout(600);

const addressIn = async (child: Child) => (await child.until(/"address":"(http:[^"]+)"/))[1] ?? '';

/** Sends a request again that an overloaded gateway did not begin. */
async function send(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 503 || !(await response.clone().text()).includes('"reason":"overloaded"')) return response;
    await setTimeout(50);
  }
}

describe('the demo', () => {
  test('the printed booking works, and survives a kill and restart', async () => {
    const first = start();
    const { url, init } = await printedRequest(first);
    // The text for people comes last.
    expect(first.output.stdout).toMatch(/^\{.*"msg":"Crossward is listening"\}\n\nCrossward is running with/m);
    const booked = await send(url, init);
    expect(booked.status).toBe(201);
    const appointment = (await booked.json()) as Appointment;
    const client = await readClient();
    expect(first.output.stdout).not.toContain(JSON.parse(client).client_secret);
    expect((await stat(join(dataDir, 'demo-client.json'))).mode & 0o077).toBe(0);

    first.process.kill('SIGKILL');
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });

    const second = start();
    const address = await addressIn(second);
    expect(await readClient()).toBe(client);
    const path = `${new URL(url).pathname}/${appointment.id}`;
    const found = await fetch(`${address}${path}`, { headers: await headersOf() });
    expect(found.status).toBe(200);
    expect(await found.json()).toEqual(appointment);
    // It prints a time that is still free, not the one just booked.
    const next = await printedRequest(second);
    expect((await send(next.url, next.init)).status).toBe(201);
  });

  // Windows uses access control lists instead of file modes.
  test.skipIf(process.platform === 'win32')('restricts the permissions of its data directory and logs it', async () => {
    await chmod(dataDir, 0o755);
    const child = start(onPostgres);
    await addressIn(child);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(child.output.stdout).toMatch(
      /"level":40.*"msg":"data directory was accessible to other users of this machine/,
    );
  });

  test('finishes running requests before it stops', async () => {
    const child = start(onPostgres);
    const { url, init } = await printedRequest(child);
    const { hostname, port, pathname } = new URL(url);
    const body = String(init.body);
    const socket = connect(Number(port), hostname);
    let response = '';
    socket.setEncoding('utf8').on('data', (text) => {
      response += text;
    });
    const lines = Object.entries({
      ...(init.headers as Record<string, string>),
      host: hostname,
      'content-length': String(Buffer.byteLength(body)),
      expect: '100-continue',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
    // The gateway has read the request headers and waits for the body.
    while (!response.includes('100 Continue')) await once(socket, 'data');
    socket.write(body.slice(0, 10));
    child.process.kill('SIGTERM');
    await child.until(/"msg":"stopping/);
    socket.write(body.slice(10));
    await once(socket, 'close');
    expect(response).toContain('HTTP/1.1 201 Created');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.output.stderr).toBe('');

    const id = /"id":"([^"]+)"/.exec(response)?.[1];
    const again = start(onPostgres);
    const found = await fetch(`${await addressIn(again)}${pathname}/${id}`, { headers: await headersOf() });
    expect(found.status).toBe(200);
  });

  /** A client with a keep-alive connection that it has used once. */
  async function idleConnection(child: Child) {
    const { hostname, port } = new URL(await addressIn(child));
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const ask = async () => {
      socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
      return String(await once(socket, 'data'));
    };
    await ask();
    return { ask, close: () => socket.destroy() };
  }

  test('keeps running on SIGHUP, and stops on SIGTERM while an idle connection is open', async () => {
    const child = start(onPostgres);
    const client = await idleConnection(child);
    await child.until(/Crossward is running with/);
    child.process.kill('SIGHUP');
    await child.until(/"signal":"SIGHUP"/);
    expect(await client.ask()).toMatch(/^HTTP\/1\.1 200 /);
    child.process.kill('SIGTERM');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    client.close();
  });

  test('stops on SIGINT while an idle connection is open', async () => {
    const child = start(onPostgres);
    const client = await idleConnection(child);
    await child.until(/Crossward is running with/);
    child.process.kill('SIGINT');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    client.close();
  });

  /** A gateway that waits for so long after SIGTERM that only another signal ends it within the test. */
  async function startDraining(variables: Record<string, string> = {}): Promise<{ child: Child; address: string }> {
    const setup = await writeQuickDemo(dataDir, { http: { drain_seconds: 300 } });
    const child = start({ ...onPostgres, ...setup.variables, ...variables });
    return { child, address: await addressIn(child) };
  }
  const health = async (address: string, path: string) => {
    const response = await fetch(`${address}/health/${path}`);
    const { status } = (await response.json()) as { status: string };
    return [response.status, status, response.headers.get('connection')];
  };

  test('on SIGTERM it is not ready and still answers, until a second signal ends the wait', async () => {
    const { child, address } = await startDraining();
    expect(await health(address, 'ready')).toEqual([200, 'ok', 'keep-alive']);
    child.process.kill('SIGTERM');
    await child.until(/"drain_seconds":300/);
    expect(await health(address, 'ready')).toEqual([503, 'stopping', 'close']);
    expect(await health(address, 'live')).toEqual([200, 'ok', 'close']);
    const refused = await fetch(`${address}/api/emrs`);
    expect([refused.status, refused.headers.get('connection')]).toEqual([401, 'close']);
    await laterThanTheSameSignal();
    child.process.kill('SIGTERM');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.output.stdout).toContain('stopping after the current requests');
  });

  test('Ctrl-C does not wait for proxies, however often npm and the terminal send it', async () => {
    const { child } = await startDraining();
    for (let count = 0; count < 3; count++) child.process.kill('SIGINT');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.output.stdout).not.toContain('drain_seconds');
  });

  test.each([
    ['npx crossward start', ['npx', 'crossward', 'start']],
    ['npm start', ['npm', 'start']],
  ] as const)('%s: the gateway ends with the process that started it', async (_, [command, ...words]) => {
    const launcher = spawn(command, words, {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', CROSSWARD_DATA_DIR: dataDir, ...onPostgres },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    launcher.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    // The gateway holds the output open until it ends.
    const closed = once(launcher, 'close');
    try {
      await expect.poll(() => output).toMatch(/Crossward is running with/);
      launcher.kill('SIGTERM');
      await closed;
      expect(output).toContain('stopping after the current requests');
    } finally {
      const pid = /"pid":(\d+)/.exec(output)?.[1];
      if (launcher.exitCode === null && launcher.signalCode === null && pid) process.kill(Number(pid), 'SIGKILL');
    }
  });

  test('reports a port in use before it starts anything', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const child = start({ PORT: String(port) });
    expect(await child.ended).toMatchObject({ code: 1 });
    other.close();
    expect(child.output.stderr).toMatch(new RegExp(`^Crossward cannot start\\.\\nPORT: ${port} .*in use`));
    expect(child.output.stdout).toBe('');
    // No database, no client, no lock.
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('locks its data directory and its port', async () => {
    const first = start();
    const address = await addressIn(first);
    const second = start();
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.output.stderr).toMatch(/^Crossward cannot start\.\n.*data directory/);
    expect(second.output.stderr).not.toMatch(/^\s+at /m);

    const third = start({ ...onPostgres, PORT: new URL(address).port, CROSSWARD_DATA_DIR: join(dataDir, 'other') });
    expect(await third.ended).toMatchObject({ code: 1 });
    expect(third.output.stderr).toContain('EADDRINUSE');
    expect((await fetch(`${address}/health/ready`)).status).toBe(200);
  });

  test('does not listen on 0.0.0.0', async () => {
    const child = start({ ...onPostgres, HOST: '0.0.0.0' });
    expect(await child.ended).toMatchObject({ code: 1 });
    expect(child.output.stderr).toMatch(/^Crossward cannot start\.\n.*HOST/s);
    expect(child.output.stdout).not.toContain('Crossward is listening');
  });
});

describe('the configuration file', () => {
  const right = `emrs:
  - id: north
    name: North
    connector: sandbox
    settings: { country: "NO" }
    care_units:
      - { id: oslo, name: Oslo, time_zone: Europe/Oslo, language: nb }
clients:
  - id: acme
    secrets: [{ env: ACME_CLIENT_SECRET }]
    scopes: [appointments:read]
    grants:
      - emr: north
`;
  const variables = {
    CROSSWARD_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    ACME_CLIENT_SECRET: 'a-client-secret-that-nobody-guesses-0001',
  };

  test('replaces the demo configuration', async () => {
    const path = join(dataDir, 'crossward.yaml');
    await writeFile(path, right);
    const child = start({ CROSSWARD_CONFIG: path, ...onPostgres, ...variables });
    const address = await addressIn(child);
    const headers = { 'x-service-client-id': 'acme', 'x-service-client-secret': variables.ACME_CLIENT_SECRET };
    const found = await fetch(`${address}/api/emrs`, { headers });
    expect(await found.json()).toMatchObject({ emrs: [{ id: 'north' }] });
    await expect(readClient()).rejects.toThrow('ENOENT');
    expect(child.output.stdout).not.toContain('curl');
    expect((await fetch(`${address}/demo/messages`)).status).toBe(404);
  });

  test('is rejected if invalid, with the error and its position', async () => {
    const path = join(dataDir, 'crossward.yaml');
    await writeFile(path, right.replace('Europe/Oslo', 'Europe/Olso').replace('emr: north', 'emr: south'));
    const child = start({ CROSSWARD_CONFIG: path, ...onPostgres, ...variables });
    expect(await child.ended).toMatchObject({ code: 1 });
    expect(child.output.stderr).toContain('Crossward cannot start.');
    expect(child.output.stderr).toMatch(/crossward\.yaml:7:\d+: .*time_zone/);
    expect(child.output.stderr).toMatch(/crossward\.yaml:13:\d+: .*south/);
    expect(child.output.stderr).not.toMatch(/^\s+at /m);
    expect(child.output.stderr).not.toContain(variables.ACME_CLIENT_SECRET);
  });

  test('requires a secret key', async () => {
    const path = join(dataDir, 'crossward.yaml');
    await writeFile(path, right);
    const { CROSSWARD_SECRET_KEY: _, ...rest } = variables;
    const child = start({ CROSSWARD_CONFIG: path, ...onPostgres, ...rest });
    expect(await child.ended).toMatchObject({ code: 1 });
    expect(child.output.stderr).toContain('CROSSWARD_SECRET_KEY');
  });

  test('rejects a secret key that does not match the database', async () => {
    const path = join(dataDir, 'crossward.yaml');
    await writeFile(path, right);
    const first = start({ CROSSWARD_CONFIG: path, ...onPostgres, ...variables });
    await addressIn(first);
    const wrong = Buffer.alloc(32, 8).toString('base64');
    const second = start({ CROSSWARD_CONFIG: path, ...onPostgres, ...variables, CROSSWARD_SECRET_KEY: wrong });
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.output.stderr).toMatch(/^Crossward cannot start\.\nCROSSWARD_SECRET_KEY: the database has been used/);
    const rotated = start({
      CROSSWARD_CONFIG: path,
      ...onPostgres,
      ...variables,
      CROSSWARD_SECRET_KEY: wrong,
      CROSSWARD_PREVIOUS_SECRET_KEYS: variables.CROSSWARD_SECRET_KEY,
    });
    await addressIn(rotated);
    const demo = start({ ...onPostgres, CROSSWARD_DATA_DIR: join(dataDir, 'other') });
    expect(await demo.ended).toMatchObject({ code: 1 });
    expect(demo.output.stderr).toContain(join(dataDir, 'other', 'secret-key'));
  });
});
