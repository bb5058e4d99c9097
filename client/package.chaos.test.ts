import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { packClient } from '../release/pack-client.ts';
import { introduction } from '../server/src/http/openapi-introduction.ts';
import { type Gateway, startGateway } from '../test/gateway/gateway.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

let project: string;
let gateway: Gateway;

/** A project outside this repository that has the packed client installed. */
beforeAll(async () => {
  project = await mkdtemp(join(inject('runFolder'), 'client-user-'));
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  const file = await packClient(project);
  const target = join(project, 'node_modules/@crossward/client');
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(project, file), '-C', target, '--strip-components=1']);
  await installDependencies(target);
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway?.close();
  await rm(project, { recursive: true, force: true });
});

/** Copies the dependencies that the packed package names, and theirs. */
async function installDependencies(folder: string): Promise<void> {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const target = join(project, 'node_modules', name);
    if (existsSync(target)) continue;
    await cp(join(root, 'node_modules', name), target, { recursive: true });
    await installDependencies(target);
  }
}

/** The examples of the README: each is the first one, which creates the client, and its own lines. */
async function examples(): Promise<{ code: string; printed: string[] }[]> {
  const readme = await readFile(new URL('README.md', import.meta.url), 'utf8');
  const [first = '', ...others] = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, code = '']) => code);
  return others.map((code) => ({
    code: `${first}\n${code}`,
    printed: Array.from(code.matchAll(/\/\/ → (.*)/g), ([, line = '']) => line),
  }));
}

/** Type-checks with the strictest options, without the repository's settings, and compiles. */
async function compile(...files: string[]): Promise<string> {
  const options = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext --target es2022';
  const types = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable', '--types', 'node'];
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    await cp(join(root, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  }
  return run(process.execPath, [tsc, ...options.split(' '), ...types, ...files], { cwd: project }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** The machine's own Node.js, which is what users of the package have. Otherwise the project's. */
function nodeOfTheMachine(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return folders.map((folder) => join(folder, 'node')).find(existsSync) ?? process.execPath;
}

test('the examples of the README compile, run from the packed package, and print what the README says', async () => {
  const all = await examples();
  expect(all.length).toBeGreaterThan(5);
  const names = all.map((_, index) => `example-${index + 1}`);
  await Promise.all(all.map(({ code }, index) => writeFile(join(project, `${names[index]}.ts`), code)));
  expect(await compile(...names.map((name) => `${name}.ts`))).toBe('');

  await writeFile(
    join(project, 'all.js'),
    names.map((name) => `console.log('${name}');\nawait import('./${name}.js');`).join('\n'),
  );
  const { id, secret } = gateway.credentials('everything');
  const { stdout } = await run(nodeOfTheMachine(), ['all.js'], {
    cwd: project,
    env: {
      CROSSWARD_URL: `http://127.0.0.1:${gateway.port}`,
      CROSSWARD_CLIENT_ID: id,
      CROSSWARD_CLIENT_SECRET: secret,
    },
  });
  const printed = all.flatMap(({ printed }, index) => [names[index], ...printed]);
  expect(stdout.trimEnd().split('\n')).toEqual(printed);
});

test('the packed package contains what it runs, and no tests', async () => {
  const [file = ''] = (await readdir(project)).filter((name) => name.endsWith('.tgz'));
  const { stdout } = await run('tar', ['-tzf', join(project, file)]);
  const files = stdout.trim().split('\n');
  expect(files).toEqual(expect.arrayContaining(['package/package.json', 'package/README.md', 'package/dist/index.js']));
  expect(
    files.filter((name) => !/^package\/(package\.json|README\.md|LICENSE|dist\/[a-z-]+\.(js|d\.ts))$/.test(name)),
  ).toEqual([]);
  expect(files.filter((name) => name.includes('test'))).toEqual([]);
});

test('the example in the API reference compiles, and names the packed file', async () => {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(introduction) ?? [];
  await writeFile(join(project, 'reference.ts'), code);
  expect(code).toContain('createCrosswardClient');
  expect(await compile('reference.ts')).toBe('');
  const [file = ''] = (await readdir(project)).filter((name) => name.endsWith('.tgz'));
  expect(introduction).toContain(file);
});

test('the packed package has types', async () => {
  const code = `
    import { createCrosswardClient, type Appointment, type Reason } from '@crossward/client';
    const client = createCrosswardClient({ baseUrl: '', clientId: '', clientSecret: '' });
    export const number: number = client.careUnit('a', 'b').appointments.get('c');
    export const reason: Reason = 'anything';
    export const status: Appointment['status'] = 'moved';`;
  await writeFile(join(project, 'wrong.ts'), code);
  const errors = await compile('wrong.ts');
  expect(errors.match(/error TS\d+/g)).toHaveLength(3);
});
