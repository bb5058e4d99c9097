// Makes a release in this clone, and publishes nothing: npm run release -- <version>
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withHeading } from './changelog.ts';
import { root, run } from './npm-pack.ts';
import { provenance } from './provenance.ts';

/** Files that name the version, besides those that npm writes and `npm run generate`. */
const naming = ['Dockerfile', 'compose.yaml', 'deploy/helm/crossward/Chart.yaml', 'docs/deploying.md'];

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) fail('Usage: npm run release -- <version>, such as 1.4.0');
if ((await git('status', '--porcelain')) !== '') fail('Commit or stash your changes first.');
if ((await git('tag', '--list', `v${version}`)) !== '') fail(`${version} has been released.`);
const changelog = join(root, 'CHANGELOG.md');
const today = new Date().toISOString().slice(0, 10);
const changes = withHeading(await readFile(changelog, 'utf8'), version, today);
const { version: before } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

await npm(
  'version',
  version,
  '--workspaces',
  '--include-workspace-root',
  '--no-git-tag-version',
  '--allow-same-version',
);
for (const file of naming) await writeVersion(join(root, file));
await npm('run', 'generate');
await npm('run', 'check:interface');
await copyFile(join(root, 'server/openapi.json'), join(root, 'release/last/openapi.json'));
await writeFile(changelog, changes);
await git('commit', '--all', '--message', `Release ${version}`);
await git('tag', '--annotate', `v${version}`, '--message', `Crossward ${version}`);

const folder = join(root, 'packages', version);
await mkdir(folder, { recursive: true });
await npm('run', 'pack', '--', folder);
await writeFile(join(folder, 'provenance.json'), await provenance(folder));
const signingKey = process.env.RELEASE_SIGNING_KEY;
if (signingKey) {
  // https://man.openbsd.org/ssh-keygen#Y~5
  const words = ['-Y', 'sign', '-f', signingKey, '-n', 'crossward-release'];
  for (const name of ['SHA256SUMS', 'provenance.json']) await run('ssh-keygen', [...words, join(folder, name)]);
}
process.stdout.write(`
${folder} has the packages of ${version}${signingKey ? ', signed' : ''}. The tests run with: npm run ci
To publish them:

  git push --follow-tags
  for file in ${folder}/*.tgz; do npm publish --access public "$file"; done
`);

async function writeVersion(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (!text.includes(before)) fail(`${file} does not name ${before}.`);
  await writeFile(file, text.replaceAll(before, version));
}

async function git(...words: string[]): Promise<string> {
  return (await run('git', words, { cwd: root })).stdout.trim();
}

async function npm(...words: string[]): Promise<void> {
  await run('npm', words, { cwd: root, maxBuffer: 100_000_000, shell: process.platform === 'win32' }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => fail(`${stdout}${stderr}`),
  );
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
