import { cp, glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runtimeFiles } from '../server/bundle/runtime-files.ts';
import { type Manifest, npmPack, root, run } from './npm-pack.ts';
import { notices, type Parts } from './parts.ts';

const files = [
  ...runtimeFiles,
  // The demo shows them.
  '{*,docs/**/*,client/*,connector-kit/*,connectors/*/*,examples/*/*,bench/*}.md',
  'docs/pictures/*',
  '.env.example',
  // For operators: alert rules, dashboards, the chart, the unit, Caddy's file.
  'deploy/{Caddyfile,**/*.*,**/.helmignore}',
];
interface ServerManifest extends Manifest {
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/**
 * Packs the gateway with its connectors, as a bundle: Node.js does not run TypeScript in installed packages.
 *
 * @param folder where the tarball is written
 * @param parts whose notices it contains
 * @returns the name of the tarball
 */
export async function packServer(folder: string, parts: Parts): Promise<string> {
  const { stdout } = await run(process.execPath, [join(root, 'server/bundle/prepare.js')]);
  const bundle = stdout.trim();
  const manifest = await packedManifest();
  return npmPack(folder, manifest, async (staged) => {
    for await (const file of glob(files, { cwd: root, exclude: ['**/node_modules/**'] })) {
      await cp(join(root, file), join(staged, file));
    }
    await writeFile(join(staged, 'THIRD-PARTY-LICENCES.txt'), await notices(parts));
    const { version, type } = manifest;
    await writeFile(join(staged, 'server/package.json'), JSON.stringify({ version, type }));
    await cp(bundle, join(staged, 'server/dist/packed'), {
      recursive: true,
      // V8's code is for one processor and one Node.js.
      filter: (path) => path !== join(bundle, 'compiled'),
    });
  });
}

async function packedManifest(): Promise<Manifest> {
  const server = JSON.parse(await readFile(join(root, 'server/package.json'), 'utf8')) as ServerManifest;
  const runtimes = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as ServerManifest;
  // Everything else is in the bundle, as the lock file has it.
  const { dependencies: _, ...rest } = server;
  const optionalDependencies = { ...server.optionalDependencies, ...runtimes.optionalDependencies };
  const bin = { crossward: './server/src/cli/crossward.js' };
  return { ...rest, optionalDependencies, bin };
}
