// Runs Schemathesis with all checks against the demo, once for each database. Arguments, such as --max-examples 200 or
// --seed 1, are passed to `schemathesis run`. SCHEMATHESIS is the path of the program if it is not on PATH.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../child-gateway.ts';
import { createRunFolder, startPostgres } from '../embedded-postgres.ts';

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Ways to run Schemathesis, in order of preference. */
const programs: readonly (readonly [string, ...string[]])[] = process.env.SCHEMATHESIS
  ? [[process.env.SCHEMATHESIS]]
  : [['schemathesis'], ['uvx', 'schemathesis'], ['pipx', 'run', 'schemathesis']];

const program = await findProgram();
const runFolder = await createRunFolder();
try {
  const failed: string[] = [];
  const postgres = await startPostgres(runFolder);
  try {
    for (const [name, databaseUrl] of [
      ['PGlite', undefined],
      ['PostgreSQL', postgres.url],
    ] as const) {
      process.stdout.write(`\n${name}\n`);
      if (!(await passes(join(runFolder, `gateway-${name}`), databaseUrl))) failed.push(name);
    }
  } finally {
    await postgres.stop();
  }
  process.stdout.write(failed.length === 0 ? '\nPassed on both databases.\n' : `\nFailed on ${failed.join(', ')}.\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  await rm(runFolder, { recursive: true, force: true });
}

async function passes(dataDir: string, databaseUrl: string | undefined): Promise<boolean> {
  const gateway = await startChild({ dataDir, databaseUrl, variables: { LOG_LEVEL: 'info' } });
  try {
    const headers = Object.entries(gateway.credentials).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const [command, ...first] = program;
    const child = spawn(
      command,
      [
        ...first,
        `--config-file=${beside('schemathesis.toml')}`,
        'run',
        `${gateway.address}/api/openapi.json`,
        ...headers,
        '--checks=all',
        // Replaced by `valid_data_is_understood` in hooks.py.
        '--exclude-checks=positive_data_acceptance',
        // Most ids in paths are random, so most responses are 404.
        '--warnings=off',
        '--continue-on-failure',
        ...process.argv.slice(2),
      ],
      {
        cwd: runFolder,
        env: { ...process.env, SCHEMATHESIS_HOOKS: beside('hooks.py') },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    const [code] = await once(child, 'close');
    return code === 0 && !gateway.hasEnded();
  } finally {
    await gateway.kill();
  }
}

async function findProgram(): Promise<readonly [string, ...string[]]> {
  for (const candidate of programs) {
    const [command, ...first] = candidate;
    const child = spawn(command, [...first, '--version'], { stdio: 'ignore' });
    const code = await Promise.race([
      once(child, 'close').then(([it]) => it),
      once(child, 'error').then(() => undefined),
    ]).catch(() => undefined);
    if (code === 0) return candidate;
  }
  throw new Error('Schemathesis is not installed: pip install schemathesis, or set SCHEMATHESIS to the program.');
}
