import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './npm-pack.ts';

/**
 * Says from what the files in `SHA256SUMS` were made, as https://slsa.dev/spec/v1.0/provenance in an in-toto statement. Anybody
 * can verify it: `npm run pack` on the same commit gives files with the same checksums.
 *
 * @param folder with `SHA256SUMS`
 */
export async function provenance(folder: string): Promise<string> {
  const sums = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  const lock = await readFile(join(root, 'package-lock.json'));
  const output = async (command: string, ...words: string[]) =>
    (await run(command, words, { cwd: root })).stdout.trim();
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: sums.map((line) => {
      const [sha256, name] = line.split('  ');
      return { name, digest: { sha256 } };
    }),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:crossward:npm-run-pack:v1',
        externalParameters: { command: 'npm ci && npm run pack' },
        internalParameters: { node: process.version, npm: await output('npm', '--version') },
        resolvedDependencies: [
          { name: 'crossward', digest: { gitCommit: await output('git', 'rev-parse', 'HEAD') } },
          { name: 'package-lock.json', digest: { sha256: createHash('sha256').update(lock).digest('hex') } },
        ],
      },
      runDetails: { builder: { id: 'urn:crossward:npm-run-release:v1' } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
