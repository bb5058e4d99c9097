import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Result } from '../measure/bench.ts';
import { npmStart, root, startCommand } from '../measure/gateway.ts';
import { usageOf } from '../measure/processes.ts';
import { spread } from '../measure/statistics.ts';

const rounds = 5;
const bundles = join(root, 'server/dist');
const mebibyte = 1024 * 1024;

/**
 * Time from the start of the process until `/health/ready` responds with 200, for the demo as `npm start` starts it. The
 * first start makes the bundle too.
 */
export const start: Bench = {
  name: 'start',
  async run(postgres) {
    const newFolder = () => mkdtemp(join(postgres.folder, 'start-'));
    const onPostgres = {
      DATABASE_URL: await postgres.createDatabase(),
      CROSSWARD_DATA_DIR: await newFolder(),
    };
    const onPglite = { CROSSWARD_DATA_DIR: await newFolder() };
    for (const variables of [onPostgres, onPglite]) await measureStart(variables);
    return [
      await result('start, migrated PostgreSQL', 0.8, async () => onPostgres),
      await result('start, existing PGlite folder', 1.5, async () => onPglite),
      await result('first start, PGlite', 4, async () => {
        await rm(bundles, { recursive: true, force: true });
        return { CROSSWARD_DATA_DIR: await newFolder() };
      }),
    ];
  },
};

async function result(
  name: string,
  atMost: number,
  variables: () => Promise<Readonly<Record<string, string>>>,
): Promise<Result> {
  const seconds: number[] = [];
  const memory: number[] = [];
  const cpu: number[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    const measured = await measureStart(await variables());
    seconds.push(measured.secondsToReady);
    memory.push(measured.residentBytes / mebibyte);
    cpu.push(measured.cpuMilliseconds / 1000);
  }
  return {
    name,
    measure: 'seconds to ready',
    value: spread(seconds),
    reach: { atMost },
    details: { 'CPU s': spread(cpu).median, 'resident MiB': spread(memory).median },
  };
}

async function measureStart(variables: Readonly<Record<string, string>>) {
  const { secondsToReady, pid, stop } = await startCommand(npmStart, { ...variables, LOG_LEVEL: 'error' });
  const usage = await usageOf(pid);
  await stop();
  return { secondsToReady, ...usage };
}
