import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const pathOf = (path: string) => fileURLToPath(new URL(path, root));
const env = { PATH: process.env.PATH, npm_node_execpath: process.execPath };

/** Runs what `npm start -- …` runs. */
function start(...words: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string; stderr: string }>();
  execFile('sh', [pathOf('server/node.sh'), pathOf('server/bundle/gateway.js'), ...words], { env }, (error, out, err) =>
    resolve({ code: error?.code ?? 0, stdout: out, stderr: err }),
  );
  return promise;
}

test('npm start -- --help prints every variable, and does not start', async () => {
  const { code, stdout, stderr } = await start('--help');
  expect([code, stderr]).toEqual([0, '']);
  const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) {2,}/gm)].map(([, name]) => name).sort();
  const example = await readFile(new URL('.env.example', root), 'utf8');
  expect(listed).toEqual([...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name).sort());
  const documented = (await readFile(new URL('docs/configuration.md', root), 'utf8')).split(
    '## The configuration file',
  )[0];
  expect(listed).toEqual([...(documented ?? '').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name).sort());
});

test.each([
  ['server/bundle/gateway.js', '--help'],
  ['server/bundle/crossward.js', '--help'],
])('%s %s ends without an error if nobody reads its output, as with `| head -1`', async (program, word) => {
  const words = [pathOf('server/node.sh'), pathOf(program), word];
  const child = spawn('sh', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('EPIPE')]);
});

test.each([
  ['--port 9000', '--port', 'Did you mean the environment variable PORT?'],
  ['--database-url=postgres://u:secret@h/d', '--database-url', 'the environment variable DATABASE_URL?'],
  ['secret', 'this argument', '--help lists them'],
])('npm start -- %s says that variables set it up, and shows no value', async (words, what, hint) => {
  const { code, stdout, stderr } = await start(...words.split(' '));
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(what)]);
  expect(stderr).toContain(hint);
  expect(stderr).not.toContain('secret');
});
