// npm run bench:publish: copies the saved results into the documents that quote them. With `--check`, it only compares.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fillBlocks } from './measure/blocks.ts';
import type { SavedRun } from './measure/table.ts';

const documents = ['README.md', 'docs/scaling.md', 'bench/README.md'];
const root = new URL('../', import.meta.url);
const folder = new URL('bench/results/', root);

const saved = await readSaved();
for (const document of documents) {
  const path = new URL(document, root);
  const text = await readFile(path, 'utf8');
  const filled = fillBlocks(text, saved);
  if (filled === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${document} does not quote the saved results. Run: npm run bench:publish\n`);
    process.exitCode = 1;
  } else {
    await writeFile(path, filled);
  }
}

async function readSaved(): Promise<SavedRun> {
  const [name, ...others] = await readdir(folder);
  if (name === undefined || others.length > 0)
    throw new Error('bench/results must contain one file. Delete older ones.');
  return JSON.parse(await readFile(new URL(name, folder), 'utf8')) as SavedRun;
}
