import { makeBundle } from './start.js';

process.exitCode = makeBundle() === undefined ? 1 : 0;
