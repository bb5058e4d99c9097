// Starts a program (`gateway` or `crossward`) from its bundle, which takes less time and memory than its sources. Makes the
// bundle if the sources have changed. Without a program, it only does that.
//
// Plain JavaScript with few imports, because it runs before each start.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder } from './folder.js';

const sources = { gateway: '../src/main.ts', crossward: '../src/cli/main.ts' };
/** Milliseconds after which the code that V8 compiled is stored for the next start. */
const cacheDelay = 5_000;

const [program] = process.argv.splice(2, 1);
const folder = bundleFolder(fileURLToPath(new URL('../..', import.meta.url)));
const hasBundle = existsSync(folder) || makeBundle();
if (program === undefined) process.exitCode = hasBundle ? 0 : 1;
else if (hasBundle) {
  module.enableCompileCache(join(folder, 'compiled'));
  // Node.js stores it at the end too, but not if the process is killed.
  setTimeout(() => module.flushCompileCache(), cacheDelay).unref();
  await import(pathToFileURL(join(folder, `${program}.js`)).href);
} else {
  await import(new URL(sources[program], import.meta.url).href);
}

function makeBundle() {
  process.stderr.write('Crossward prepares its program, once for this version.\n');
  const build = fileURLToPath(new URL('build.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [build, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status === 0) return true;
  const reason = /^\w*Error\b.*: .*$/m.exec(stderr ?? '')?.[0] ?? 'unknown reason';
  process.stderr.write(
    `It could not be prepared, so Crossward runs from its sources, which needs more memory: ${reason}\n`,
  );
  return false;
}
