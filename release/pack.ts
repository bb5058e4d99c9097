// Packs all packages as they are published, with their parts, licences and checksums: npm run pack [folder]
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './npm-pack.ts';
import { packClient } from './pack-client.ts';
import { packKit } from './pack-kit.ts';
import { packServer } from './pack-server.ts';
import { licenceList, listParts } from './parts.ts';

// npm runs scripts in the root of the repository.
const [folder = 'packages'] = process.argv.slice(2);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
await mkdir(folder, { recursive: true });
const parts = await listParts(version);
const names = await Promise.all([
  packServer(folder, parts),
  packClient(folder),
  packKit(folder),
  write(`crossward-${version}.cdx.json`, `${JSON.stringify(parts, null, 2)}\n`),
  write(`crossward-${version}.licences.txt`, licenceList(parts)),
]);
const sums = await Promise.all(names.map(async (name) => `${await sha256(name)}  ${name}\n`));
// The form of sha256sum, which verifies them.
names.push(await write('SHA256SUMS', sums.join('')));
for (const name of names) process.stdout.write(`${join(folder, name)}\n`);

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return name;
}

async function sha256(name: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(folder, name)))
    .digest('hex');
}
