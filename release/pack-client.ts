import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, npmPack, packReadme, root } from './npm-pack.ts';

/**
 * Packs the client as JavaScript with type declarations. In this repository it is used as TypeScript, so the packed
 * package.json differs from the one here.
 *
 * @param folder where the tarball is written
 * @returns the name of the tarball
 */
export async function packClient(folder: string): Promise<string> {
  const client = join(root, 'client');
  const manifest = JSON.parse(await readFile(join(client, 'package.json'), 'utf8'));
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
  return npmPack(folder, { ...manifest, exports }, async (staged) => {
    await compile(join(client, 'tsconfig.build.json'), join(staged, 'dist'));
    await packReadme(client, staged, 'dist');
  });
}
