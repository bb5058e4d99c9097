import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { freePort } from '../processes/free-port.ts';
import { type BuiltImage, buildImage } from './built-image.ts';
import { require, whatIsMissing } from './tools.ts';
import {
  bookAt,
  bookWhileItStops,
  exampleConfiguration,
  exampleSetup,
  nodeProcessesOf,
  nodeProcessOf,
  statusOf,
} from './visit.ts';

const run = promisify(execFile);
/** The other rings that need tools run beside this one. */
const buildMilliseconds = 1_200_000;
const missing = whatIsMissing('buildah', 'mmdebstrap', 'root');
beforeEach((context) => require(missing, context));

describe('the image', () => {
  let image: BuiltImage;
  let configuration: string;
  let operationsPort: number;
  beforeAll(async () => {
    if (missing !== undefined) return;
    operationsPort = await freePort();
    configuration = await exampleConfiguration(inject('runFolder'), operationsPort);
    image = await buildImage(inject('runFolder'));
  }, buildMilliseconds);
  afterAll(() => image?.remove());

  /** Words that run a program of the container, with the files of the image read-only. */
  const inContainer = (variables: Readonly<Record<string, string>>, ...program: readonly string[]) =>
    [
      ...image.buildah,
      'run',
      ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['--volume', `${configuration}:/etc/crossward/crossward.yaml:ro`],
      image.container,
      ...program,
    ] as const;

  /** The exit code of the image's health check. */
  const health = async (port: number) => {
    const [, ...program] = image.config.Healthcheck.Test;
    const [command, ...words] = inContainer({ HEALTH_URL: `http://127.0.0.1:${port}/health/ready` }, ...program);
    const env = { ...process.env, ...image.environment };
    return await run(command, words, { env }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  };

  test('runs as its own user, by number, and Node.js gets the signals', () => {
    expect(image.config).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM' });
    expect(image.config.Entrypoint[0]).toBe('/usr/local/bin/node');
    expect(image.config.Cmd).toEqual(['server/bundle/gateway.js']);
    expect(image.config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', '/usr/local/bin/node']);
  });

  test('says what it is, and lists its parts', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(image.config.Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'abc123',
      'org.opencontainers.image.source': 'https://example.org/crossward',
    });
    const parts = JSON.parse(await readFile(join(image.files, 'app', 'sbom.cdx.json'), 'utf8'));
    const listed: string[] = parts.components.map(({ name }: { readonly name: string }) => name);
    expect(listed).toEqual(expect.arrayContaining(['node', 'fastify', 'pg']));
    for (const name of listed.slice(1)) expect([name, /^(?:vitest|rolldown|node-)/.test(name)]).toEqual([name, false]);
  });

  test('sets what npm start sets for glibc and V8', async () => {
    const script = await readFile(new URL('../../server/node.sh', import.meta.url), 'utf8');
    const variables = [...script.matchAll(/^export (\w+)="\$\{\w+:-(\d+)\}"/gm)].map(
      ([, name, value]) => `${name}=${value}`,
    );
    expect(variables.length).toBeGreaterThan(0);
    expect(image.config.Env).toEqual(expect.arrayContaining(variables));
    const options = /exec "\$node" (--.*) "\$@"/.exec(script)?.[1]?.split(' ');
    expect(image.config.Entrypoint.slice(1)).toEqual(options);
  });

  test('has one program, Node.js: no shell, no package manager, and nothing that makes the bundle', async () => {
    expect(await programsIn(image.files)).toEqual(['usr/local/bin/node']);
    const app = join(image.files, 'app');
    expect(await readdir(join(app, 'node_modules'))).toEqual(['@electric-sql']);
    expect(await readdir(join(app, 'server', 'dist'))).toEqual(['packed']);
    const files = await readdir(app, { recursive: true });
    expect(files.filter((name) => /\.(?:map|[cm]?ts)$/.test(name))).toEqual([]);
    expect(await readFile(join(app, 'THIRD-PARTY-LICENCES.txt'), 'utf8')).toContain('node_modules/fastify ');
  });

  test('adds at most 30 MB to Node.js and what that needs', async () => {
    const entries = await readdir(join(image.files, 'app'), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(30_000_000);
  });

  test('as process 1, Node.js ends on SIGTERM and leaves no worker behind', async () => {
    const database = await createTestDatabase('postgresql', 'empty');
    const setup = exampleSetup();
    const script = [
      'set -e',
      'mount --rbind /dev "$1/dev" && mount -t proc none "$1/proc"',
      'mount --bind "$2" "$1/etc/crossward/crossward.yaml"',
      'root=$1; shift 2; exec chroot --userspec=65532:65532 "$root" /usr/local/bin/node "$@"',
    ].join('\n');
    const imageVariables = Object.fromEntries(image.config.Env.map((line) => line.split(/=(.*)/s)));
    // Each takes a port from the first one on.
    const own = await exampleConfiguration(inject('runFolder'), await twoFreePorts());
    let gateway: ChildGateway | undefined;
    try {
      gateway = await startChild({
        dataDir: inject('runFolder'),
        databaseUrl: database.url,
        setup,
        variables: {
          ...imageVariables,
          PATH: process.env.PATH ?? '',
          HOST: '127.0.0.1',
          PORT: String(await freePort()),
          CROSSWARD_WORKERS: '2',
          NODE_COMPILE_CACHE: '',
        },
        command: [
          ...(['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh'] as const),
          ...[image.files, own],
          ...[...image.config.Entrypoint.slice(1), join('/app', ...image.config.Cmd)],
        ],
      });
      const [pid = 0, ...workers] = await nodeProcessesOf(gateway.pid);
      expect((await statusOf(pid)).NSpid).toMatch(/\t1$/);
      await expect.poll(async () => (await nodeProcessesOf(pid)).length).toBe(3);
      await bookAt(gateway, 9);
      process.kill(pid, 'SIGTERM');
      await gateway.ended;
      expect(gateway.exitCode()).toBe(0);
      expect(workers.filter((worker) => existsSync(`/proc/${worker}`))).toEqual([]);
    } finally {
      await gateway?.kill();
      await database.dispose();
    }
  });

  test('serves assistants, with the command of the documentation', async () => {
    const port = await freePort();
    const mcp = ['server/bundle/crossward.js', 'mcp', '--host', '127.0.0.1', '--port', String(port)];
    const variables = { CROSSWARD_URL: 'http://127.0.0.1:1' };
    const [command, ...words] = inContainer(variables, ...image.config.Entrypoint, ...mcp);
    const env = { ...process.env, ...image.environment };
    const child = spawn(command, words, { env, stdio: 'ignore' });
    const statusOfCall = () =>
      fetch(`http://127.0.0.1:${port}/api/emrs/example/mcp`, { method: 'POST' }).then(
        ({ status }) => status,
        () => 'not reached',
      );
    try {
      await expect.poll(statusOfCall).toBe(401);
    } finally {
      process.kill(await nodeProcessOf(child.pid ?? 0), 'SIGTERM');
      await once(child, 'exit');
    }
    expect(child.exitCode).toBe(0);
  });

  test('books as its own user on a read-only root, and completes its requests after SIGTERM', async () => {
    const database = await createTestDatabase('postgresql', 'empty');
    const port = await freePort();
    const setup = exampleSetup();
    // The image's own command, with the variables that an operator sets.
    const variables = { ...setup.variables, DATABASE_URL: database.url ?? '', HOST: '127.0.0.1', PORT: String(port) };
    let gateway: ChildGateway | undefined;
    try {
      expect(await health(operationsPort)).toBe(1);
      gateway = await startChild({
        dataDir: inject('runFolder'),
        setup: { ...setup, variables: image.environment },
        command: inContainer(variables, ...image.config.Entrypoint, ...image.config.Cmd),
      });
      const pid = await nodeProcessOf(gateway.pid);
      const status = await statusOf(pid);
      expect(status.Uid?.split('\t')).toEqual(Array(4).fill('65532'));
      expect(status.Gid?.split('\t')).toEqual(Array(4).fill('65532'));
      expect(status.CapEff).toMatch(/^0+$/);
      expect(await mountOptionsOf(pid)).toContain('ro');
      await expect.poll(() => health(operationsPort)).toBe(0);
      await bookAt(gateway, 9);
      // It runs from the bundle that the image contains.
      expect(gateway.logLines.join('\n')).not.toMatch(/prepares its program|runs from its sources/);
      expect(await bookWhileItStops(gateway, pid, 10)).toMatch(/HTTP\/1\.1 201 /);
      await gateway.ended;
      expect(gateway.exitCode()).toBe(0);
    } finally {
      if (gateway && !gateway.hasEnded()) process.kill(await nodeProcessOf(gateway.pid), 'SIGKILL');
      await gateway?.ended;
      await database.dispose();
    }
  });
});

/** The first of two ports in a row. */
async function twoFreePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if ((await freePort()) === port + 1) return port;
  }
}

/** Files that can be executed and are not libraries or parts of packages, relative to the folder. */
async function programsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin', 'usr/local/sbin', 'opt']) {
    const names = await readdir(join(folder, name), { recursive: true }).catch(() => []);
    for (const entry of names) {
      const path = join(folder, name, entry);
      if ((await stat(path)).isFile()) found.push(relative(folder, path));
    }
  }
  return found;
}

/** Options of the mount of a process's root. */
async function mountOptionsOf(pid: number): Promise<readonly string[]> {
  const lines = (await readFile(`/proc/${pid}/mountinfo`, 'utf8')).trim().split('\n');
  const roots = lines.map((line) => line.split(' ')).filter(([, , , , point]) => point === '/');
  return roots.at(-1)?.[5]?.split(',') ?? [];
}
