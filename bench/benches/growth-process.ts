import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Result } from '../measure/bench.ts';
import { type ConfiguredGateway, type EmrInFile, reload, startGateway } from '../measure/gateway.ts';
import type { Postgres } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';
import { median } from '../measure/statistics.ts';
import { calls } from './idle.ts';

/** A gateway counts as idle after a minute. */
const settlingSeconds = 75;
/** In which the changes in each EHR are read twice. */
const seconds = 60;
const reloads = 7;
const mebibyte = 1024 * 1024;

interface Cost {
  readonly mebibytes: number;
  readonly statementsPerSecond: number;
  /** Of one processor. */
  readonly processorPercent: number;
  /** Processor time of a reload that gives one EHR a new connection. */
  readonly reloadCpuMilliseconds: number;
  /** Its median duration. */
  readonly reloadMilliseconds: number;
}

/** What a process with many EHRs costs: memory, statements while nobody calls it, and a reload that changes one. */
export const manyEhrs: Bench = {
  name: 'growth-process',
  async run(postgres) {
    const one = await costOf(postgres, 1);
    const results: Result[] = [];
    for (const count of [100, 400]) results.push(...resultsOf(count, await costOf(postgres, count), one));
    return results;
  },
};

function resultsOf(count: number, cost: Cost, one: Cost): Result[] {
  const each = (much: number, little: number) => (much - little) / (count - 1);
  return [
    {
      name: `process with ${count} EHRs, memory`,
      measure: 'resident, MiB more for each EHR',
      value: each(cost.mebibytes, one.mebibytes),
      reach: { atMost: 0.4 },
      details: { 'resident MiB': cost.mebibytes, 'with one': one.mebibytes },
    },
    {
      name: `process with ${count} EHRs, idle`,
      measure: 'statements a second more for each EHR',
      value: each(cost.statementsPerSecond, one.statementsPerSecond),
      reach: { atMost: 0.2 },
      details: {
        'statements/s': cost.statementsPerSecond,
        'with one': one.statementsPerSecond,
        '% of one processor': cost.processorPercent,
      },
    },
    {
      name: `reload that changes one of ${count} EHRs`,
      measure: 'processor time, ms',
      value: cost.reloadCpuMilliseconds,
      details: {
        'duration ms': cost.reloadMilliseconds,
        'with one': one.reloadCpuMilliseconds,
        'duration ms with one': one.reloadMilliseconds,
      },
    },
  ];
}

async function costOf(postgres: Postgres, count: number): Promise<Cost> {
  const databaseUrl = await postgres.createDatabase();
  const emrs = Array.from({ length: count - 1 }, (_, n) => sandboxEmr(n));
  const gateway = await startGateway({ folder: postgres.folder, databaseUrl, emrs });
  try {
    await sleep(settlingSeconds * 1000);
    const [before, usageBefore] = [await statements(databaseUrl), await usageOf(gateway.pid)];
    await sleep(seconds * 1000);
    const [after, usage] = [await statements(databaseUrl), await usageOf(gateway.pid)];
    return {
      mebibytes: usage.residentBytes / mebibyte,
      statementsPerSecond: (after - before) / seconds,
      processorPercent: (usage.cpuMilliseconds - usageBefore.cpuMilliseconds) / (seconds * 10),
      ...(await reloadCost(gateway)),
    };
  } finally {
    await gateway.stop();
  }
}

async function statements(databaseUrl: string): Promise<number> {
  return [...(await calls(databaseUrl)).values()].reduce((total, count) => total + count, 0);
}

/** The first reloads compile what the others run. */
async function reloadCost(gateway: ConfiguredGateway) {
  const file = JSON.parse(await readFile(gateway.configuration, 'utf8')) as { readonly emrs: readonly EmrInFile[] };
  const measured: { readonly duration: number; readonly cpu: number }[] = [];
  for (let n = 0; n < 2 * reloads; n++) {
    const [first, ...others] = file.emrs;
    const emrs = [{ ...first, connection: { concurrency: 10 + n } }, ...others];
    await writeFile(gateway.configuration, JSON.stringify({ ...file, emrs }));
    const [begun, usage] = [performance.now(), await usageOf(gateway.pid)];
    await reload(gateway);
    const duration = performance.now() - begun;
    measured.push({ duration, cpu: (await usageOf(gateway.pid)).cpuMilliseconds - usage.cpuMilliseconds });
  }
  const warm = measured.slice(reloads);
  return {
    reloadMilliseconds: median(warm.map(({ duration }) => duration)),
    reloadCpuMilliseconds: warm.reduce((total, { cpu }) => total + cpu, 0) / warm.length,
  };
}

export function sandboxEmr(n: number): EmrInFile {
  return {
    id: `sandbox-${n}`,
    name: `Sandbox ${n}`,
    connector: 'sandbox',
    settings: { country: 'NO' },
    synthetic_identifiers: true,
    care_units: [{ id: 'oslo-sentrum', name: 'Oslo', time_zone: 'Europe/Oslo', language: 'nb' }],
  };
}
