import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

interface About {
  readonly operationId: string;
  readonly emr: string;
}

/** What operators are told of operations. Labels are names from the configuration and words of ours. */
export interface OperationMetrics {
  /** Nobody will ever know whether the EHR has done it. */
  outcomeLost(about: About): void;
  /** The EHR has done some of it, and it could not be taken back. */
  stayed(about: About): void;
  turnedUpLate(about: About & { readonly became: 'adopted' | 'undone' }): void;
  leaseLost(emr: string): void;
  suspended(about: About): void;
  round(emr: string, seconds: number): void;
  /** From the database, before each scrape. */
  standing(rows: readonly Standing[]): void;
}

export interface Standing {
  readonly emr: string;
  readonly oldestPendingSeconds: number;
  readonly suspended: number;
  readonly overdueHolds: number;
}

export function createOperationMetrics(registry: Registry, log: Logger): OperationMetrics {
  const registers = [registry];
  const labelNames = ['emr'] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const lost = counter(
    'crossward_operations_outcome_lost_total',
    'Operations of which an EHR that cannot be asked for them has shown nothing for long enough.',
  );
  const stuck = counter('crossward_operations_partially_applied_total', 'Operations that could not be undone whole.');
  const leases = counter(
    'crossward_operations_leases_lost_total',
    'Leases that ran out while an operation was worked on.',
  );
  const late = new Counter({
    name: 'crossward_operations_turned_up_late_total',
    help: 'Operations that an EHR has done after they were ended as not done.',
    labelNames: ['emr', 'became'],
    registers,
  });
  const rounds = new Histogram({
    name: 'crossward_background_round_duration_seconds',
    help: 'How long a round of background work took.',
    labelNames,
    buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  const oldest = gauge(
    'crossward_operations_oldest_pending_seconds',
    'Age of the oldest operation that has not ended.',
  );
  const suspended = gauge('crossward_operations_suspended', 'Operations that background work has given up.');
  const overdue = gauge('crossward_holds_overdue', 'Holds that have run out and are not given up yet.');
  return {
    outcomeLost({ operationId, emr }) {
      lost.inc({ emr });
      log.error(
        { operation_id: operationId, emr },
        'nobody knows whether an EHR has done a write; it is not done again',
      );
    },
    stayed({ operationId, emr }) {
      stuck.inc({ emr });
      log.error({ operation_id: operationId, emr }, 'an operation could not be undone whole');
    },
    turnedUpLate({ operationId, emr, became }) {
      late.inc({ emr, became });
      log.warn({ operation_id: operationId, emr, became }, 'an operation turned up late in the EHR');
    },
    leaseLost: (emr) => leases.inc({ emr }),
    suspended({ operationId, emr }) {
      log.error({ operation_id: operationId, emr }, 'operation suspended');
    },
    round: (emr, seconds) => rounds.observe({ emr }, seconds),
    standing(rows) {
      for (const { emr, ...row } of rows) {
        oldest.set({ emr }, row.oldestPendingSeconds);
        suspended.set({ emr }, row.suspended);
        overdue.set({ emr }, row.overdueHolds);
      }
    },
  };
}
