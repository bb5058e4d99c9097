import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

interface About {
  readonly operationId: string;
  readonly emr: string;
}

/** Metrics and log lines about operations. Labels are ids from the configuration or fixed words. */
export interface OperationMetrics {
  /** The outcome could not be determined. */
  outcomeLost(about: About): void;
  /** The EHR performed part of the operation, and compensation failed. */
  partiallyApplied(about: About): void;
  lateEffect(about: About & { readonly became: 'adopted' | 'undone' }): void;
  leaseLost(emr: string): void;
  suspended(about: About): void;
  round(emr: string, seconds: number): void;
  /** From the database, before each scrape. */
  gauges(rows: readonly OperationGauges[]): void;
}

export interface OperationGauges {
  readonly emr: string;
  readonly oldestPendingSeconds: number;
  readonly suspended: number;
  readonly overdueHolds: number;
}

export function createOperationMetrics(registry: Registry, log: Logger): OperationMetrics {
  const registers = [registry];
  const labelNames = ['emr'] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  // The gauges describe the database, which all workers read.
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers, aggregator: 'max' });
  const lost = counter(
    'crossward_operations_outcome_lost_total',
    'Operations whose outcome could not be determined: an EHR without findOperation showed no effect in time.',
  );
  const partial = counter(
    'crossward_operations_partially_applied_total',
    'Operations that could not be fully compensated.',
  );
  const leases = counter(
    'crossward_operations_leases_lost_total',
    'Leases that expired while their operation was running.',
  );
  const late = new Counter({
    name: 'crossward_operations_turned_up_late_total',
    help: 'Operations that an EHR performed after they had ended without effect.',
    labelNames: ['emr', 'became'],
    registers,
  });
  const rounds = new Histogram({
    name: 'crossward_background_round_duration_seconds',
    help: 'Duration of a round of background jobs for one EHR.',
    labelNames,
    buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  const oldest = gauge(
    'crossward_operations_oldest_pending_seconds',
    'Age of the oldest operation that has not ended.',
  );
  const suspended = gauge(
    'crossward_operations_suspended',
    'Suspended operations, which background recovery no longer retries.',
  );
  const overdue = gauge('crossward_holds_overdue', 'Expired holds that are not released yet.');
  return {
    outcomeLost({ operationId, emr }) {
      lost.inc({ emr });
      log.error({ operation_id: operationId, emr }, 'operation ended: outcome unknown, will not be retried');
    },
    partiallyApplied({ operationId, emr }) {
      partial.inc({ emr });
      log.error({ operation_id: operationId, emr }, 'operation partially applied: compensation failed');
    },
    lateEffect({ operationId, emr, became }) {
      late.inc({ emr, became });
      log.warn({ operation_id: operationId, emr, became }, 'late effect of an operation found in the EHR');
    },
    leaseLost: (emr) => leases.inc({ emr }),
    suspended({ operationId, emr }) {
      log.error({ operation_id: operationId, emr }, 'operation suspended');
    },
    round: (emr, seconds) => rounds.observe({ emr }, seconds),
    gauges(rows) {
      for (const { emr, ...row } of rows) {
        oldest.set({ emr }, row.oldestPendingSeconds);
        suspended.set({ emr }, row.suspended);
        overdue.set({ emr }, row.overdueHolds);
      }
    },
  };
}
