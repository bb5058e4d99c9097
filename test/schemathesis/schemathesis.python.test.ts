import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, test } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { startChild } from '../processes/child-gateway.ts';
import { usePython } from '../python/environment.ts';

/** Options of `schemathesis run`, such as `--max-examples 200 --seed 1`. By default the run takes about a minute. */
const given = process.env.SCHEMATHESIS_OPTIONS?.split(' ');
const usual = ['--max-examples=3', '--seed=1'];

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const python = usePython(new URL('requirements.txt', import.meta.url));

test.for(given ? (['postgresql', 'pglite'] as const) : (['postgresql'] as const))(
  'requests that Schemathesis generates from the OpenAPI document get responses that match it (%s)',
  { timeout: 3_600_000 },
  async (kind, { onTestFinished }) => {
    const folder = await mkdtemp(join(inject('runFolder'), 'schemathesis-'));
    const database = kind === 'postgresql' ? await createTestDatabase(kind) : undefined;
    const gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl: database?.url });
    onTestFinished(async () => {
      await gateway.kill();
      await database?.dispose();
    });
    const headers = Object.entries(gateway.credentials).map(([name, value]) => `--header=${name}: ${value}`);
    await python.runProgram(
      'schemathesis',
      [
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
        ...(given ?? usual),
      ],
      { cwd: folder, variables: { SCHEMATHESIS_HOOKS: beside('hooks.py') } },
    );
  },
);
