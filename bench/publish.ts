// npm run bench:publish: copies the newest results into the documents that quote them. With `--check`, it only compares.
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fillBlocks } from './measure/blocks.ts';
import type { SavedRun } from './measure/table.ts';

const documents = ['README.md', 'docs/scaling.md', 'bench/README.md'];
const root = new URL('../', import.meta.url);
const folder = new URL('bench/results/', root);

const newest = (await readRuns()).toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
for (const document of documents) {
  const path = new URL(document, root);
  if (!newest || !existsSync(path)) continue;
  const text = await readFile(path, 'utf8');
  const filled = fillBlocks(text, newest);
  if (filled === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${document} does not quote the newest results. Run: npm run bench:publish\n`);
    process.exitCode = 1;
  } else {
    await writeFile(path, filled);
  }
}

async function readRuns(): Promise<SavedRun[]> {
  if (!existsSync(folder)) return [];
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  return Promise.all(files.map(async (name) => JSON.parse(await readFile(new URL(name, folder), 'utf8')) as SavedRun));
}
