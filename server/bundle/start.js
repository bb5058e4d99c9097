import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder, newDatabaseOf, wantsSourceMaps } from './folder.js';

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
  if (Number.parseInt(process.versions.node, 10) < 24) {
    process.stderr.write(
      `Crossward needs Node.js 24 or newer, and this is ${process.version}. npm start uses the one that npm ci installs.\n`,
    );
    process.exit(1);
  }
  const folder = currentBundle();
  const isGateway = program === 'gateway';
  if (isGateway && process.argv.length > 2 && !existsSync(folder)) {
    // Only prints a text.
    await import('../src/main.ts');
    return;
  }
  // Otherwise its sources report what prevents the start: at once, instead of after the time that a bundle takes.
  const canStart = !isGateway || existsSync(folder) || (await run('may-start.ts', [])).code !== 3;
  if (isGateway && canStart) prepareNewDatabase(folder);
  const isBundled = canStart && (await makeBundle(folder));
  const main = isBundled ? join(folder, `${program}.js`) : fileURLToPath(new URL(sources[program], import.meta.url));
  // Workers run the same file, even if the sources have changed since.
  process.argv[1] = main;
  if (isBundled) useCompileCache(join(folder, 'compiled'));
  await import(pathToFileURL(main).href);
}

/** Folder of the bundle of the current sources, which may not exist yet. */
export function currentBundle() {
  return bundleFolder(fileURLToPath(new URL('../..', import.meta.url)));
}

/** Makes the bundle if there is none. Returns whether there is one now. */
export async function makeBundle(folder) {
  if (existsSync(folder)) return true;
  process.stderr.write('Crossward prepares its program, once for this version.\n');
  const { code, errors } = await run('build.ts', [folder, String(wantsSourceMaps())]);
  if (code === 0) return true;
  const reason = /^\w*Error\b.*: .*$/m.exec(errors)?.[0] ?? 'unknown reason';
  process.stderr.write(
    `It could not be prepared, so Crossward runs from its sources, which needs more memory: ${reason}\n`,
  );
  return false;
}

/**
 * Creates a database without data while the bundle is made, because both take about two seconds. The gateway awaits it in
 * `server/src/db/new-database.ts`, if it needs one. If this fails, the gateway creates its own.
 */
function prepareNewDatabase(folder) {
  const path = newDatabaseOf(folder);
  if (existsSync(folder) && !existsSync(path)) return;
  globalThis[Symbol.for('crossward.new-database')] = existsSync(path)
    ? Promise.resolve(path)
    : // Without optimised code it takes as long, and leaves the other core to the bundler.
      run('new-database.ts', [path], ['--liftoff-only']).then(() => (existsSync(path) ? path : undefined));
}

/** Runs a script of this folder in a process of its own. */
function run(script, input, options = []) {
  return new Promise((resolve) => {
    const path = fileURLToPath(new URL(script, import.meta.url));
    const child = spawn(process.execPath, [...options, path, ...input], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    child.once('error', () => resolve({ code: null, errors }));
    child.once('close', (code) => resolve({ code, errors }));
  });
}

/**
 * Stores in the folder what V8 compiles, and reads it from there.
 *
 * @internal exported for tests, which load modules before the gateway
 */
export function useCompileCache(cache) {
  module.enableCompileCache(cache);
  process.env.NODE_COMPILE_CACHE ??= cache;
  // Node.js stores it at the end too, but not if the process is killed.
  setTimeout(() => module.flushCompileCache(), cacheDelay).unref();
}
