import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useCompileCache } from '../../server/bundle/start.js';

// node start-after.js <folder of a bundle> <preload>: loads the module and then the gateway.
const [, , folder, preload] = process.argv;
const fileOf = (name) => join(folder, `${name}.js`);
process.argv.splice(1, 3, fileOf('gateway'));
useCompileCache(join(folder, 'compiled'));
for (const name of [preload, 'gateway']) await import(pathToFileURL(fileOf(name)).href);
