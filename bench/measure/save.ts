import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Postgres } from './postgres.ts';
import { describeRun, figures, type SavedResult, type SavedRun, toMarkdown } from './table.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../results/', import.meta.url));

/** Writes the results with time, commit and machine to `bench/results/` and returns the path without its extension. */
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
  await mkdir(folder, { recursive: true });
  const path = `${folder}${saved.at.slice(0, 10)}-${saved.commit}`;
  await writeFile(`${path}.json`, `${JSON.stringify(saved, null, 2)}\n`);
  await writeFile(`${path}.md`, `# ${describeRun(saved)}\n\n${toMarkdown(results)}\n${figures(results)}`);
  return path;
}
