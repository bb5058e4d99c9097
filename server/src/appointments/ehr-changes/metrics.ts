import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Db } from '../../db/kysely.ts';

export interface EhrChangeMetrics {
  /** Reads the gauges. */
  refresh(db: Db, emrs: readonly string[]): Promise<void>;
}

export function createEhrChangeMetrics(registry: Registry): EhrChangeMetrics {
  const lag = new Gauge({
    name: 'crossward_ehr_changes_lag_seconds',
    help: 'Age of the oldest change that was made directly in the EHR and may have no event yet.',
    labelNames: ['emr'],
    registers: [registry],
    aggregator: 'max',
  });
  return {
    async refresh(db, emrs) {
      const lags = await readChangeLags(db, emrs);
      lag.reset();
      for (const { emr, seconds } of lags) lag.set({ emr }, seconds);
    },
  };
}

/** How old a change that was made directly in an EHR can be without having an event, for each EHR that is read. In seconds. */
export async function readChangeLags(db: Db, emrs: readonly string[]): Promise<{ emr: string; seconds: number }[]> {
  const { rows } = await sql<{ emr: string; seconds: number }>`
    SELECT emr, extract(epoch FROM now() - least(caught_up_at, (
      SELECT min(read_at) FROM ehr_changes WHERE ehr_changes.emr = ehr_change_feeds.emr)))::float8 AS seconds
    FROM ehr_change_feeds WHERE emr = ANY(${[...emrs]}::text[]) AND cursor IS NOT NULL`.execute(db);
  return rows;
}
