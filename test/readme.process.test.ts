import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildGateway, startChild } from './child-gateway.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

let folder: string;
let database: TestDatabase;
let gateway: ChildGateway | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-readme-'));
  // Starts faster than the embedded database. The README's commands do not depend on it.
  database = await createTestDatabase('postgresql');
  gateway = await startChild({ dataDir: join(folder, '.data'), databaseUrl: database.url });
});

afterAll(async () => {
  await gateway?.kill();
  await database?.dispose();
  await rm(folder, { recursive: true, force: true });
});

test('the first request of the README returns the response shown there', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const section = readme.split('\n## ').find((part) => part.startsWith('First request\n')) ?? '';
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  const [, printed = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];

  const here = commands.replaceAll('http://127.0.0.1:8080', gateway?.address ?? '');
  const { stdout } = await promisify(execFile)('bash', ['-ec', here], { cwd: folder });

  expect(JSON.parse(stdout)).toEqual({ ...JSON.parse(printed), id: expect.any(String) });
});
