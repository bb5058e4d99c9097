import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('./create-connector.ts', import.meta.url));
const kit = fileURLToPath(new URL('../connector-kit', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'crossward-create-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Creates a connector where this Node.js runs npm. */
async function createWith(node: string, name: string): Promise<string> {
  const env = { PATH: process.env.PATH, npm_node_execpath: node };
  return (await run(process.execPath, [program, join(folder, name)], { env })).stdout;
}

async function oldNode(version: string): Promise<string> {
  const path = join(folder, `node-${version}`);
  await writeFile(path, `#!/bin/sh\necho ${version}\n`);
  await chmod(path, 0o755);
  return path;
}

test.runIf(process.platform !== 'win32').each(['v20.20.2', 'v22.17.1'])(
  'on Node.js %s the connector is made, and the way to a newer one printed',
  async (version) => {
    const name = `toy-${version.replaceAll(/\D/g, '')}`;
    const printed = await createWith(await oldNode(version), name);
    expect(await readdir(join(folder, name))).toContain('package.json');
    expect(printed).toContain(`Your Node.js is ${version}, which is too old`);
    const [way = ''] = /export PATH=.*/.exec(printed) ?? [];
    const { stdout } = await run('sh', ['-c', `${way}; node --version`]);
    expect(Number.parseInt(stdout.slice(1), 10)).toBeGreaterThanOrEqual(24);
  },
);

test.each([
  ['22.17.1', 1, 'Needs Node.js 22.18 or newer, and this is v22.17.1'],
  ['22.18.0', 0, ''],
  ['24.0.0', 0, ''],
])('npm test in a copy on Node.js %s ends with %s before the tests', async (version, code, said) => {
  const { scripts } = JSON.parse(await readFile(join(kit, 'template-booking/package.json'), 'utf8'));
  const fake = `const version = 'v${version}';
    Object.defineProperties(process, { version: { value: version }, versions: { value: { node: version.slice(1) } } });`;
  const env = {
    PATH: dirname(process.execPath),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fake)}`,
  };
  const ended = await run('/bin/sh', ['-c', scripts.pretest], { env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: number; stderr: string }) => error,
  );
  expect([ended.code, ended.stderr.trim()]).toEqual([code, said]);
});

test('both templates look at the version in the same way, and have the tools of this repository', async () => {
  const [first, second] = await Promise.all(
    ['template', 'template-booking'].map(async (it) =>
      JSON.parse(await readFile(join(kit, it, 'package.json'), 'utf8')),
    ),
  );
  expect(first.scripts.pretest).toBe(second.scripts.pretest);
  const { packages } = JSON.parse(await readFile(join(kit, '../package-lock.json'), 'utf8'));
  const tools = Object.keys(first.devDependencies);
  const here = Object.fromEntries(tools.map((name) => [name, packages[`node_modules/${name}`].version]));
  expect([first.devDependencies, second.devDependencies]).toEqual([here, here]);
});

test.each(['template', 'template-booking'])(
  'the README of %s links to nothing that a packed copy lacks',
  async (it) => {
    expect(await readFile(join(kit, it, 'README.md'), 'utf8')).not.toMatch(/\]\((?!https?:|#)/);
  },
);

test('on a new enough Node.js nothing is said about it', async () => {
  const printed = await createWith(process.execPath, 'toy');
  expect(printed).toContain('npm test');
  expect(printed).not.toContain('too old');
});
