// Packs all packages as they are published: npm run pack [folder]
import { mkdir } from 'node:fs/promises';
import { packClient } from './pack-client.ts';
import { packKit } from './pack-kit.ts';
import { packServer } from './pack-server.ts';

// npm runs scripts in the root of the repository.
const [folder = 'packages'] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
for (const name of await Promise.all([packServer(folder), packClient(folder), packKit(folder)])) {
  process.stdout.write(`${folder}/${name}\n`);
}
