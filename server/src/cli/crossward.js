#!/usr/bin/env node
// Runs the command line on the Node.js that comes with the project: whichever one started this file may be too old to
// run TypeScript. Plain JavaScript, therefore.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./main.ts', import.meta.url));
const child = spawn(ownNode() ?? process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
});

function ownNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    const path = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
