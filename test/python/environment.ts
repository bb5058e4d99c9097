import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

export interface PythonOptions {
  readonly cwd?: string;
  /** Further folders of modules. */
  readonly path?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** Python with the packages of `requirements.txt`. */
export interface PythonEnvironment {
  /** Runs `python3` and returns its output. Rejects with the output if it fails. */
  run(args: readonly string[], options?: PythonOptions): Promise<string>;
}

/** Installs the packages into a folder. Rejects if Python, pip or the package index is missing. */
export async function createPythonEnvironment(folder: string): Promise<PythonEnvironment> {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--no-compile'];
  // The file lists every package, so dependencies need not be resolved.
  await run('python3', [...pip, '--no-deps', '--target', folder, '--requirement', requirements]);
  return {
    async run(args, { cwd = folder, path = [], variables } = {}) {
      const env = {
        ...process.env,
        // Generators format the code with ruff.
        PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
        PYTHONPATH: [...path, folder].join(delimiter),
        ...variables,
      };
      const { stdout } = await run('python3', [...args], { cwd, env });
      return stdout;
    },
  };
}
