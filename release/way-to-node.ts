import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** The least version that runs TypeScript, and so the tests of a connector. */
const least = [22, 18] as const;

/**
 * How to get to a Node.js that is new enough, if the one that runs npm is not. This script itself runs on the one that the
 * repository has installed.
 *
 * @returns lines to print, or an empty text
 */
export async function wayToNode(): Promise<string> {
  const version = await versionOf(process.env.npm_node_execpath ?? process.execPath);
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return '';
  return `
Your Node.js is ${version}, which is too old for it. This repository has a newer one. To use that in a terminal:

  export PATH="${dirname(process.execPath)}:$PATH"

Or install Node.js 24: https://nodejs.org/en/download
`;
}

async function versionOf(node: string): Promise<string> {
  const { stdout } = await promisify(execFile)(node, ['--version']);
  return stdout.trim();
}
