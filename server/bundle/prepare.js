import { currentBundle, makeBundle } from './start.js';

process.exitCode = (await makeBundle(currentBundle())) ? 0 : 1;
