import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Postgres } from './postgres.ts';
import type { SavedResult, SavedRun } from './table.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../results/', import.meta.url));

/** Replaces the file in `bench/results/` by the results, with time, commit and machine. Returns its path. */
export async function save(results: readonly SavedResult[], { version }: Postgres): Promise<string> {
  // Only the hash, and whether files have changed since.
  const describe = ['describe', '--always', '--dirty', '--exclude', '*'];
  const { stdout } = await run('git', describe, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const saved: SavedRun = {
    at: new Date().toISOString(),
    commit: stdout.trim(),
    machine: {
      processors: cpus().length,
      model: cpus()[0]?.model ?? 'unknown',
      memoryGib: Math.round(totalmem() / 1024 ** 3),
      node: process.version,
      postgresql: version,
    },
    results,
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const path = `${folder}${saved.at.slice(0, 10)}-${saved.commit}.json`;
  await writeFile(path, `${JSON.stringify(saved, null, 2)}\n`);
  return path;
}
