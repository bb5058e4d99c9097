import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** Python programs that may be there, the tested version first. */
const candidates = ['python3.12', 'python3.13', 'python3.14', 'python3'];
/** Why GNU Health cannot be installed on this machine. */
export class NotPossible extends Error {
  override readonly name = 'NotPossible';
}

/**
 * A virtual environment with GNU Health, made once in this folder. Returns the folder of its programs.
 *
 * @throws NotPossible without Python, or without the packages
 */
export async function installGnuHealth(folder: string, report: (step: string) => void): Promise<string> {
  const bin = join(folder, 'bin');
  const done = join(folder, 'installed');
  if (await exists(done)) return bin;
  const python = await findPython();
  report(`Installing GNU Health with ${python}, which takes a minute.`);
  try {
    await run(python, ['-m', 'venv', '--clear', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
    // The list is complete. GNU Health's own list names a driver of PostgreSQL that has to be compiled.
    await run(join(bin, 'python'), [...pip, '--no-deps', '--requirement', requirements]);
    await run(join(bin, 'python'), ['-c', `open(${JSON.stringify(done)}, "w").close()`]);
  } catch (error) {
    throw new NotPossible(`The Python packages of GNU Health cannot be installed: ${lastLine(error)}`);
  }
  return bin;
}

async function findPython(): Promise<string> {
  const named = process.env.PYTHON;
  for (const program of named ? [named] : candidates) {
    // Not all packages of the list exist for an older one, and GNU Health does not allow a newer one.
    const print = 'import sys; print(sys.version_info >= (3, 12) and sys.version_info < (3, 15))';
    const found = await run(program, ['-c', print]).catch(() => undefined);
    if (found?.stdout.trim() === 'True') return program;
  }
  const looked = named ?? candidates.join(', ');
  throw new NotPossible(`Python 3.12, 3.13 or 3.14 was not found (${looked}). Set PYTHON to its path`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return text.trim().split('\n').at(-1) ?? '';
}
