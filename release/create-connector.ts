// Copies a template for a connector, with the packed kit: npm run create-connector -- <folder> [--template booking]
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packKit } from './pack-kit.ts';
import { wayToNode } from './way-to-node.ts';

const templates: Readonly<Record<string, string>> = { look_up: 'template', booking: 'template-booking' };
const usage = 'Usage: npm run create-connector -- <folder> [--template look_up|booking]';

const {
  values,
  positionals: [target],
} = parseArgs({
  allowPositionals: true,
  options: { template: { type: 'string', default: 'look_up' } },
});
const template = templates[values.template];
if (target === undefined || template === undefined) fail(usage);
// npm runs scripts in the root of the repository, and names the folder that it was called in.
const folder = resolve(process.env.INIT_CWD ?? '.', target);
const name = basename(folder);
if (!/^[a-z][a-z0-9-]*$/.test(name))
  fail(`${name}: the folder's name becomes the package's: use a-z, 0-9 and hyphens.`);
await mkdir(folder, { recursive: true });
if ((await readdir(folder)).length > 0) fail(`${folder} is not empty.`);

await cp(fileURLToPath(new URL(`../connector-kit/${template}`, import.meta.url)), folder, {
  recursive: true,
  filter: (path) => !/[\\/](node_modules|dist)$/.test(path),
});
const kit = await packKit(folder);
await rewriteManifest();
await writeFile(join(folder, '.gitignore'), 'node_modules/\ndist/\n');
// On an older Node.js, `npm install` fails and names the version. Otherwise the tests would, with a TypeError.
await writeFile(join(folder, '.npmrc'), 'engine-strict=true\n');
process.stdout.write(
  `${folder} has the template and the kit. Continue there, with Node.js 22.18 or newer:\n\n  npm install\n  npm test\n${await wayToNode()}`,
);

async function rewriteManifest(): Promise<void> {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as { dependencies: Record<string, string> };
  const dependencies = { ...manifest.dependencies, '@crossward/connector-kit': `file:${kit}` };
  // The kit is not in a registry, so the packed connector contains it.
  const bundleDependencies = ['@crossward/connector-kit'];
  await writeFile(file, `${JSON.stringify({ ...manifest, name, dependencies, bundleDependencies }, null, 2)}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
