import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../measure/bench.ts';
import { root } from '../measure/gateway.ts';

interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
}

const megabyte = 1_000_000;
const blockBytes = 512;

/** What `npm ci --omit=dev` installs on this system, on disk. npm installs a runtime only where it runs on an older Node.js. */
export const installation: Bench = {
  name: 'installation',
  async run() {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, LockedPackage>>;
    };
    let [all, runtime] = [0, 0];
    for (const [path, { dev, link }] of Object.entries(lock.packages)) {
      if (dev || link || !path.includes('node_modules/') || !existsSync(join(root, path))) continue;
      const bytes = await bytesOnDisk(join(root, path));
      all += bytes;
      if (/node_modules\/node-(bin-)?(darwin|linux|win)/.test(path)) runtime += bytes;
    }
    return [
      {
        name: 'node_modules of npm ci --omit=dev',
        measure: 'MB on disk, without a Node.js',
        value: (all - runtime) / megabyte,
        reach: { atMost: 200 },
        details: { 'runtime MB': runtime / megabyte },
      },
    ];
  },
};

/** Without packages inside a package: the lock file lists them too. */
async function bytesOnDisk(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') bytes += await bytesOnDisk(path);
    else if (entry.isFile()) bytes += (await stat(path)).blocks * blockBytes;
  }
  return bytes;
}
