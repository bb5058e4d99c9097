import { currentBundle, makeBundle } from './start.js';

const folder = currentBundle();
if (await makeBundle(folder)) process.stdout.write(`${folder}\n`);
else process.exitCode = 1;
