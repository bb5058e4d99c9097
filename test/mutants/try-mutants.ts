import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
/** What a run of the kit on a connector needs. */
const parts = ['package.json', 'connector-kit', 'connectors', 'test/mutants', 'test/requests'];
/** Some mutants wait for ever, and are caught by that. */
const longestMilliseconds = 600_000;

/**
 * Runs the kit on each mutant, in copies of the connectors.
 *
 * @param tell called with a line for each mutant
 * @param unchanged the capabilities that a connector without a mutant is checked for. Empty: all
 * @returns what is not as it should be: a connector that fails without a mutant, a mutant that no check catches and that says no
 *   reason, and a reason that is no longer true
 */
export async function tryMutants(
  mutants: readonly Mutant[],
  tell: (line: string) => void,
  unchanged: readonly string[] = [],
): Promise<readonly string[]> {
  const faults: string[] = [];
  const queue = [
    ...Array.from(new Set(mutants.map((it) => it.of)), (of) => (copy: string) => tryUnchanged(copy, of)),
    ...mutants.map((it) => (copy: string) => tryMutant(copy, it)),
  ];

  async function tryUnchanged(copy: string, of: string): Promise<void> {
    const failure = await failureOf(copy, of, unchanged);
    tell(`${of}: ${failure ?? 'passes'}`);
    if (failure) faults.push(`${of} fails without a mutant: ${failure}`);
  }

  async function tryMutant(copy: string, { of, name, file, from, to, survives }: Mutant): Promise<void> {
    const path = join(copy, file);
    const source = await readFile(path, 'utf8');
    if (source.split(from).length !== 2) {
      faults.push(`${of} ${name}: its place is not in ${file} exactly once`);
      return;
    }
    await writeFile(
      path,
      source.replace(from, () => to),
    );
    const failure = await failureOf(copy, of);
    await writeFile(path, source);
    tell(`${of} ${name}: ${failure ? `caught by ${failure}` : `survives: ${survives ?? 'nobody knows why'}`}`);
    if (failure && survives !== undefined) faults.push(`${of} ${name}: is caught, and says that it survives`);
    if (!failure && survives === undefined) faults.push(`${of} ${name}: no check catches it`);
  }

  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), mutants.length) }, async () => {
      const copy = await copyOfRepository();
      try {
        for (let work = queue.shift(); work; work = queue.shift()) await work(copy);
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    }),
  );
  return faults;
}

/** The first check that fails, with its reason, or the error that ends the run. */
function failureOf(copy: string, of: string, only: readonly string[] = []): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const child = spawn(process.execPath, ['test/mutants/run-kit.ts', '--first', of, ...only], {
    cwd: copy,
    // Half of a start compiles modules, of which a mutant changes one.
    env: { ...process.env, NODE_COMPILE_CACHE: join(copy, 'compiled') },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMilliseconds,
    killSignal: 'SIGKILL',
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  child.on('error', reject);
  child.on('close', (code, signal) => {
    if (code === 0) return resolve(undefined);
    const [line = ''] = said.split('\n').filter((it) => it.trim() !== '');
    resolve(signal ? 'its time limit' : line.slice(0, 200));
  });
  return promise;
}

/** With links to the packages of this repository, so that each copy loads its own connectors. */
async function copyOfRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'crossward-mutants-'));
  for (const part of parts) {
    await cp(join(repository, part), join(copy, part), {
      recursive: true,
      filter: (path) => !['node_modules', 'dist'].includes(basename(path)),
    });
  }
  const packages = join(repository, 'node_modules');
  await mkdir(join(copy, 'node_modules', '@crossward'), { recursive: true });
  for (const name of await readdir(packages)) {
    if (name !== '@crossward') await symlink(join(packages, name), join(copy, 'node_modules', name));
  }
  await symlink(join(copy, 'connector-kit'), join(copy, 'node_modules', '@crossward', 'connector-kit'));
  return copy;
}
