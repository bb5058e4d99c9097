import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../measure/bench.ts';
import { npmStart, startCommand } from '../measure/gateway.ts';
import { select } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';

/** After the start, jobs do what they do once, and V8 compiles what they use. A gateway counts as idle after a minute. */
const settlingSeconds = 75;
/** Contains each job that has an interval of up to a minute. */
const seconds = 60;
const statementsShown = 15;

/** What the demo does on PostgreSQL while nobody sends requests. */
export const idle: Bench = {
  name: 'idle',
  async run(postgres) {
    const databaseUrl = await postgres.createDatabase();
    const gateway = await startCommand(npmStart, {
      DATABASE_URL: databaseUrl,
      CROSSWARD_DATA_DIR: await mkdtemp(join(postgres.folder, 'idle-')),
      LOG_LEVEL: 'error',
    });
    try {
      await sleep(settlingSeconds * 1000);
      const [before, usageBefore] = [await calls(databaseUrl), await usageOf(gateway.pid)];
      await sleep(seconds * 1000);
      const [after, usage] = [await calls(databaseUrl), await usageOf(gateway.pid)];
      const perSecond = new Map(
        [...after].map(([text, count]) => [text, (count - (before.get(text) ?? 0)) / seconds] as const),
      );
      const most = [...perSecond].toSorted(([, a], [, b]) => b - a).slice(0, statementsShown);
      return [
        {
          name: 'idle gateway, statements',
          measure: 'statements a second',
          value: [...perSecond.values()].reduce((total, each) => total + each, 0),
          reach: { atMost: 8 },
          details: Object.fromEntries(most),
        },
        {
          name: 'idle gateway, processor',
          measure: '% of one processor',
          value: (usage.cpuMilliseconds - usageBefore.cpuMilliseconds) / (seconds * 10),
          reach: { atMost: 1 },
          details: {},
        },
      ];
    } finally {
      await gateway.stop();
    }
  },
};

/** How often each statement was executed, by the beginning of its text. */
export async function calls(databaseUrl: string): Promise<ReadonlyMap<string, number>> {
  const rows = await select<{ text: string; calls: number }>(
    databaseUrl,
    `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 100) AS text, sum(calls)::float AS calls FROM pg_stat_statements
     WHERE toplevel AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND query NOT LIKE '%pg_stat_statements%' GROUP BY 1`,
  );
  return new Map(rows.map(({ text, calls }) => [text, calls]));
}
