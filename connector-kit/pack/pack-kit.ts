import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const kit = fileURLToPath(new URL('..', import.meta.url));
const root = join(kit, '..');

/**
 * Packs the kit as JavaScript with type declarations, because Node.js does not run TypeScript in installed packages. In this
 * repository the kit is used as TypeScript, so the packed package.json differs from the one here.
 *
 * @param folder where the tarball is written
 * @returns the name of the tarball
 */
export async function packKit(folder: string): Promise<string> {
  const staged = await mkdtemp(join(tmpdir(), 'crossward-kit-'));
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const lib = join(staged, 'lib');
    await run(process.execPath, [tsc, '-p', join(kit, 'tsconfig.build.json'), '--outDir', lib]);
    await cp(join(kit, 'README.md'), join(staged, 'README.md'));
    await cp(join(root, 'LICENSE'), join(staged, 'LICENSE'));
    await writeFile(join(staged, 'package.json'), await packedManifest());
    const args = ['pack', '--silent', '--pack-destination', resolve(folder)];
    const { stdout } = await run('npm', args, { cwd: staged, shell: process.platform === 'win32' });
    return stdout.trim();
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function packedManifest(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(kit, 'package.json'), 'utf8')) as { exports: Record<string, string> };
  const exports = Object.entries(manifest.exports).map(([name, source]) => {
    const built = source.replace('./src/', './lib/').replace(/\.ts$/, '');
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }];
  });
  // Not in the kit's own manifest, since npm would then install Vitest with every gateway.
  const vitest = { peerDependencies: { vitest: '>=4' }, peerDependenciesMeta: { vitest: { optional: true } } };
  return JSON.stringify({ ...manifest, ...vitest, exports: Object.fromEntries(exports), files: ['lib'] }, null, 2);
}
