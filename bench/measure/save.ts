import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Result } from './bench.ts';
import type { Postgres } from './postgres.ts';
import { toMarkdown } from './table.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../results/', import.meta.url));

/** Writes the results with date, commit and machine to `bench/results/` and returns the file's path. */
export async function save(results: readonly Result[], { version }: Postgres): Promise<string> {
  const { stdout } = await run('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder.replace(/results.$/, '') });
  const commit = stdout.trim();
  const date = new Date().toISOString().slice(0, 10);
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    postgresql: version,
  };
  await mkdir(folder, { recursive: true });
  const path = `${folder}${date}-${commit}`;
  await writeFile(`${path}.json`, `${JSON.stringify({ date, commit, machine, results }, null, 2)}\n`);
  const { processors, model, memoryGib, node, postgresql } = machine;
  const heading =
    `${date}, commit ${commit}, ${processors} processors (${model}), ${memoryGib} GiB, Node.js ${node}, ` +
    `PostgreSQL ${postgresql}`;
  await writeFile(`${path}.md`, `${heading}\n\n${toMarkdown(results)}`);
  return path;
}
