import { Gauge, Histogram, type Registry } from 'prom-client';

export interface EhrGauges {
  readonly emr: string;
  readonly oldestPendingSeconds: number;
  readonly suspended: number;
  readonly overdueHolds: number;
}

export type RoundMetrics = ReturnType<typeof createRoundMetrics>;

/** Metrics of the background jobs for each EHR, and of what is left for them. */
export function createRoundMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ['emr'] as const;
  const rounds = new Histogram({
    name: 'crossward_background_round_duration_seconds',
    help: 'Duration of a round of background jobs for one EHR.',
    labelNames,
    buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  // The gauges describe the database, which all workers read.
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers, aggregator: 'max' });
  const oldest = gauge('crossward_operations_oldest_pending_seconds', 'Age of the oldest open operation.');
  const suspended = gauge('crossward_operations_suspended', 'Operations that are no longer retried.');
  const overdue = gauge('crossward_holds_overdue', 'Expired holds that are not released yet.');
  return {
    /** Measures how long a round takes. */
    async timed<Result>(emr: string, round: () => Promise<Result>): Promise<Result> {
      const end = rounds.startTimer({ emr });
      return round().finally(end);
    },
    /** From the database, before each scrape. */
    gauges(rows: readonly EhrGauges[]) {
      // An EHR can have been removed.
      for (const it of [oldest, suspended, overdue]) it.reset();
      for (const { emr, ...row } of rows) {
        oldest.set({ emr }, row.oldestPendingSeconds);
        suspended.set({ emr }, row.suspended);
        overdue.set({ emr }, row.overdueHolds);
      }
    },
  };
}
