// Fails if the interface breaks callers of the last release without a version that may: npm run check:interface
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { breakingChanges, hasGo, mayBreak } from './interface-changes.ts';
import { root } from './npm-pack.ts';

const [before, after] = [join(root, 'release/last/openapi.json'), join(root, 'server/openapi.json')];
const versionOf = async (path: string) => JSON.parse(await readFile(path, 'utf8')).info.version as string;
const [last, next] = await Promise.all([before, after].map(versionOf));

if (await hasGo()) {
  const changes = await breakingChanges(before, after);
  const isAllowed = changes === '' || mayBreak(last ?? '', next ?? '');
  const verdict = isAllowed ? 'which its version allows' : 'which needs a new major version (of 0.x, a new minor one)';
  process.stdout.write(
    changes === ''
      ? `${next} breaks no caller of ${last}.\n`
      : `${changes}\n${next} breaks callers of ${last}, ${verdict}.\n`,
  );
  process.exitCode = isAllowed ? 0 : 1;
} else {
  const isRequired = process.env.CI === 'true';
  process.stdout.write(`${isRequired ? 'Failed' : 'Skipped'}: it needs Go, which is not installed.\n`);
  process.exitCode = isRequired ? 1 : 0;
}
