import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type Manifest, npmPack, packReadme, root } from './npm-pack.ts';

const kit = join(root, 'connector-kit');

/**
 * Packs the kit as JavaScript with type declarations, because Node.js does not run TypeScript in installed packages. In this
 * repository the kit is used as TypeScript, so the packed package.json differs from the one here.
 *
 * @param folder where the tarball is written
 * @returns the name of the tarball
 */
export async function packKit(folder: string): Promise<string> {
  return npmPack(folder, await packedManifest(), async (staged) => {
    await compile(join(kit, 'tsconfig.build.json'), join(staged, 'lib'));
    await packReadme(kit, staged, 'lib');
  });
}

async function packedManifest(): Promise<Manifest> {
  const manifest = JSON.parse(await readFile(join(kit, 'package.json'), 'utf8')) as { exports: Record<string, string> };
  const exports = Object.entries(manifest.exports).map(([name, source]) => {
    const built = source.replace('./src/', './lib/').replace(/\.ts$/, '');
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }];
  });
  // Not in the kit's own manifest, since npm would then install Vitest with every gateway.
  const vitest = { peerDependencies: { vitest: '>=4' }, peerDependenciesMeta: { vitest: { optional: true } } };
  return { ...manifest, ...vitest, exports: Object.fromEntries(exports) };
}
