import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

interface About {
  readonly writeId: string;
  readonly emr: string;
}

export type WriteMetrics = ReturnType<typeof createWriteMetrics>;

/** Metrics and log lines about writes. Labels are ids from the configuration or fixed words. */
export function createWriteMetrics(registry: Registry, log: Logger) {
  const registers = [registry];
  const labelNames = ['emr'] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const lost = counter('crossward_operations_outcome_lost_total', 'Operations whose outcome could not be determined.');
  const partial = counter('crossward_operations_partially_applied_total', 'Operations that could not be compensated.');
  const leases = counter('crossward_operations_leases_lost_total', 'Leases that expired during their operation.');
  const late = new Counter({
    name: 'crossward_operations_turned_up_late_total',
    help: 'Operations that an EHR performed after they had ended without effect.',
    labelNames: ['emr', 'became'],
    registers,
  });
  return {
    /** The outcome could not be determined. */
    outcomeLost({ writeId, emr }: About) {
      lost.inc({ emr });
      log.error({ operation_id: writeId, emr }, 'operation ended: outcome unknown, will not be retried');
    },
    /** The EHR performed part of the write, and compensation failed. */
    partiallyApplied({ writeId, emr }: About) {
      partial.inc({ emr });
      log.error({ operation_id: writeId, emr }, 'operation partially applied: compensation failed');
    },
    lateEffect({ writeId, emr }: About, became: 'adopted' | 'undone') {
      late.inc({ emr, became });
      log.warn({ operation_id: writeId, emr, became }, 'late effect of an operation found in the EHR');
    },
    leaseLost: (emr: string) => leases.inc({ emr }),
    suspended({ writeId, emr }: About) {
      log.error({ operation_id: writeId, emr }, 'operation suspended');
    },
  };
}
