import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';

/** Where `.ci/deploy-tools` installs helm and kubeconform. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'crossward-tools', 'bin');

/** Variables with which programs find these tools. */
export const toolsEnvironment = { ...process.env, PATH: `${process.env.PATH}${delimiter}${cache}` };

/**
 * What keeps a test that needs programs, or to be root, from running on this machine. `undefined`: nothing.
 *
 * @param needed names of programs, and `root`
 */
export function whatIsMissing(...needed: readonly string[]): string | undefined {
  const missing = needed.filter((name) => (name === 'root' ? process.getuid?.() !== 0 : !isInstalled(name)));
  if (missing.length === 0) return undefined;
  return `needs ${missing.map((name) => (name === 'root' ? 'to run as root' : name)).join(', ')}: see docs/deploying.md`;
}

/** Skips the test, with the reason. In CI it fails instead. */
export function require(missing: string | undefined, { skip }: Pick<TestContext, 'skip'>): void {
  if (missing === undefined) return;
  if (process.env.CI) throw new Error(missing);
  // Vitest shows the reason of a skipped test only with --reporter=verbose.
  process.stderr.write(`skipped: ${missing}\n`);
  skip(missing);
}

function isInstalled(name: string): boolean {
  return toolsEnvironment.PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
