import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from './database/database.ts';
import { startChild } from './processes/child-gateway.ts';

const main = fileURLToPath(new URL('../examples/walkthrough/main.ts', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-walkthrough-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs `npm run demo`. Resolves when no process holds its output any more, so also the gateway that it started has ended. */
async function walk(variables: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, TMPDIR: temporary, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect(await readdir(temporary)).toEqual([]);
  return { code, output };
}

/** Method and status of each request that was printed. */
const exchanges = (output: string) =>
  [...output.matchAll(/^→ (\w+) .*\n(?: .*\n)*← (\d+) /gm)].map(([, method, status]) => `${method} ${status}`);
const everyStep = [
  ...['GET 200', 'POST 201', 'PATCH 200', 'PATCH 200', 'PATCH 200'],
  ...['GET 200', 'POST 201', 'PATCH 200', 'PATCH 200', 'GET 200'],
];

test('the demo prints links, and the walk-through uses it and shows every request but no credentials', async () => {
  const dataDir = join(folder, 'data');
  const database = await createTestDatabase('postgresql');
  const gateway = await startChild({ dataDir, databaseUrl: database.url });
  try {
    const { code, output } = await walk({ PORT: new URL(gateway.address).port, CROSSWARD_DATA_DIR: dataDir });
    expect([code, exchanges(output)], output).toEqual([0, everyStep]);
    expect(output).toContain(`The demo at ${gateway.address} is running.`);
    expect(output.match(/Använd koden \d{6}|code \d{6}/g)).toHaveLength(2);
    expect(output).toMatch(/"status": "cancelled"[^{}]*\}\s+That was it/);
    expect(output).not.toContain(gateway.credentials['x-service-client-secret']);
    expect(gateway.hasEnded()).toBe(false);

    const linked = ['/', '/docs/', '/demo/messages', '/api/openapi.json'].map((path) => ` ${gateway.address}${path}`);
    const printed = () => linked.filter((link) => gateway.logLines.some((line) => line.endsWith(link)));
    await expect.poll(printed).toEqual(linked);
  } finally {
    await gateway.kill();
    await database.dispose();
  }
});

test('the walk-through starts a demo if none is running, and leaves nothing behind', async () => {
  const dataDir = join(folder, 'data');
  const { code, output } = await walk({ PORT: '1', CROSSWARD_DATA_DIR: dataDir });
  expect([code, exchanges(output)], output).toEqual([0, everyStep]);
  await expect(readFile(join(dataDir, 'demo-client.json'))).rejects.toThrow('ENOENT');
});
