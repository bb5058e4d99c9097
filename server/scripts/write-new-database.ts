// npm run new-database: writes what `initdb` of the installed PGlite makes, for first starts.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { initialDatabase } from '../bundle/initial-database.ts';
import { startPglite } from '../src/db/start-pglite.ts';

const folder = new URL('../bundle/', import.meta.url);
const files = (await readdir(folder)).filter((name) => name.endsWith('.tar.zst'));
await Promise.all(files.map((name) => rm(new URL(name, folder))));
const pglite = startPglite({});
await pglite.waitReady;
const dump = await pglite.dumpDataDir('none');
await pglite.close();
const params = {
  [constants.ZSTD_c_compressionLevel]: 19,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  // The template databases are alike.
  [constants.ZSTD_c_windowLog]: 26,
};
await writeFile(initialDatabase, zstdCompressSync(Buffer.from(await dump.arrayBuffer()), { params }));
