import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder } from './folder.js';

// This is plain JavaScript with few imports, because it runs before each start.

const sources = { gateway: '../src/main.ts', crossward: '../src/cli/main.ts' };
/** Milliseconds after which the code that V8 compiled is stored for the next start. */
const cacheDelay = 5_000;

/**
 * Runs a program from its bundle, which takes less time and memory than its sources. Makes the bundle if the sources have
 * changed, and runs the sources if that fails.
 *
 * @param program a name in `sources`
 */
export async function start(program) {
  const folder = makeBundle();
  const main =
    folder === undefined ? fileURLToPath(new URL(sources[program], import.meta.url)) : join(folder, `${program}.js`);
  // Workers run the same file, even if the sources have changed since.
  process.argv[1] = main;
  if (folder !== undefined) useCompileCache(join(folder, 'compiled'));
  await import(pathToFileURL(main).href);
}

function useCompileCache(cache) {
  module.enableCompileCache(cache);
  process.env.NODE_COMPILE_CACHE ??= cache;
  // Node.js stores it at the end too, but not if the process is killed.
  setTimeout(() => module.flushCompileCache(), cacheDelay).unref();
}

/** Makes the bundle of the current sources if there is none. Returns its folder, or `undefined` if that fails. */
export function makeBundle() {
  const folder = bundleFolder(fileURLToPath(new URL('../..', import.meta.url)));
  if (existsSync(folder)) return folder;
  process.stderr.write('Crossward prepares its program, once for this version.\n');
  const build = fileURLToPath(new URL('build.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [build, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status === 0) return folder;
  const reason = /^\w*Error\b.*: .*$/m.exec(stderr ?? '')?.[0] ?? 'unknown reason';
  process.stderr.write(
    `It could not be prepared, so Crossward runs from its sources, which needs more memory: ${reason}\n`,
  );
  return undefined;
}
