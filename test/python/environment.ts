import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, inject } from 'vitest';

const run = promisify(execFile);
/** Bytes of output. */
const maxBuffer = 64 * 1024 * 1024;

interface PythonOptions {
  readonly cwd?: string;
  /** Further folders of modules. */
  readonly path?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** Python with packages. */
interface PythonEnvironment {
  /** Runs `python3` and returns its output. Rejects with the output if it fails. */
  run(args: readonly string[], options?: PythonOptions): Promise<string>;
  /** Runs a program of the packages in the same way. */
  runProgram(name: string, args: readonly string[], options?: PythonOptions): Promise<string>;
}

/**
 * Python for the tests of a file, with the packages of a `requirements.txt`, which lists every one of them. Without Python,
 * pip or the package index the tests are skipped on a developer's machine. CI has them.
 */
export function usePython(requirements: URL): PythonEnvironment {
  let folder = '';
  let failure: unknown;

  beforeAll(async () => {
    folder = await mkdtemp(join(inject('runFolder'), 'python-'));
    await install(folder, requirements).catch((error) => {
      failure = error;
    });
  }, 600_000);

  beforeEach((context) => {
    if (failure === undefined) return;
    const text = 'The Python packages cannot be installed';
    if (process.env.CI) throw new Error(text, { cause: failure });
    process.stderr.write(`Python test skipped. ${text}: ${failure}\n`);
    context.skip(text);
  });

  const environment: PythonEnvironment = {
    async run(args, { cwd = folder, path = [], variables } = {}) {
      const env = {
        ...process.env,
        // Generators format the code with ruff.
        PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
        PYTHONPATH: [...path, folder].join(delimiter),
        ...variables,
      };
      const { stdout } = await run('python3', [...args], { cwd, env, maxBuffer }).catch((error) => {
        throw new Error(`${error.stdout}${error.stderr}`);
      });
      return stdout;
    },
    runProgram: (name, args, options) => environment.run([join(folder, 'bin', name), ...args], options),
  };
  return environment;
}

async function install(folder: string, requirements: URL): Promise<void> {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--no-compile'];
  await run('python3', [...pip, '--no-deps', '--target', folder, '--requirement', fileURLToPath(requirements)]);
}
