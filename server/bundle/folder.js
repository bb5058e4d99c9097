import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Path of the bundle. The published package contains one, and no sources. In the repository it is that of the sources as they
 * are now: its name is a hash of their content and of the installed packages, so that changed sources never run as an old
 * bundle.
 *
 * @param root the folder of the repository, or of the published package
 */
export function bundleFolder(root) {
  const packed = join(root, 'server', 'dist', 'packed');
  if (existsSync(packed)) return packed;
  const hash = createHash('sha256').update(wantsSourceMaps() ? 'with source maps' : '');
  for (const path of inputs(root)) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return join(root, 'server', 'dist', hash.digest('hex').slice(0, 16));
}

/** They take as long to write as the bundle. */
export function wantsSourceMaps() {
  return (process.env.NODE_OPTIONS ?? '').includes('--enable-source-maps');
}

/**
 * Path of a database without data that is created while the bundle is made.
 *
 * @param {string} bundle the folder of the bundle
 */
export function newDatabaseOf(bundle) {
  return `${bundle}.database`;
}

/** What a bundle is made of, relative to the root. */
function inputs(root) {
  const connectors = readdirSync(join(root, 'connectors')).map((name) => join('connectors', name));
  const sources = ['server', 'connector-kit', ...connectors].flatMap((name) => [
    join(name, 'package.json'),
    ...readdirSync(join(root, name, 'src'), { recursive: true })
      .filter((file) => /\.(ts|sql)$/.test(file) && !file.endsWith('.test.ts'))
      .map((file) => join(name, 'src', file)),
  ]);
  // npm writes the first list of packages. Other package managers do not.
  const lists = [join('node_modules', '.package-lock.json'), 'package-lock.json'];
  const packages = lists.filter((file) => existsSync(join(root, file))).slice(0, 1);
  const bundling = ['build.ts', 'external.ts'].map((name) => join('server', 'bundle', name));
  return [...sources.sort(), ...bundling, ...packages];
}
