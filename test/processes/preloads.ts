import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const tests = fileOf('..');

/** Modules of tests that change a gateway before it is loaded. */
const preloads = {
  'drafts-ehr': new URL('../cuts/drafts-ehr.ts', import.meta.url),
  'faulty-ehrs': new URL('../cuts/faulty-ehrs.ts', import.meta.url),
  'freeze-at': new URL('./freeze-at.ts', import.meta.url),
  'kill-at': new URL('./kill-at.ts', import.meta.url),
  'wrong-clock': new URL('./wrong-clock.ts', import.meta.url),
} as const;
export type Preload = keyof typeof preloads;

/**
 * A command that loads the module and then the gateway, from one bundle, because a gateway takes three times as long to start
 * from its sources.
 */
export async function startAfter(preload: Preload): Promise<[string, ...string[]]> {
  bundled ??= bundle();
  return ['sh', fileOf('../../server/node.sh'), fileOf('./start-after.js'), await bundled, preload];
}

let bundled: Promise<string> | undefined;

/** Returns the folder of the bundle, which belongs to the gateway's and goes with it. Makes it if no other process has. */
async function bundle(): Promise<string> {
  const { currentBundle } = await import(fileOf('../../server/bundle/start.js'));
  const folder = `${currentBundle()}.${await fingerprint()}`;
  if (!existsSync(folder)) {
    const modules = Object.values(preloads).map((url) => fileURLToPath(url));
    await run(process.execPath, [fileOf('../../server/bundle/build.ts'), folder, 'false', ...modules]);
  }
  return folder;
}

/** Of the folders from which the modules import. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['cuts', 'ehrs', 'processes']) {
    const files = (await readdir(join(tests, folder))).filter((name) => name.endsWith('.ts'));
    for (const file of files.sort()) hash.update(`${file}\n`).update(await readFile(join(tests, folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
