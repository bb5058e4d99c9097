import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

interface About {
  readonly operationId: string;
  readonly emr: string;
}

export type OperationMetrics = ReturnType<typeof createOperationMetrics>;

/** Metrics and log lines about operations. Labels are ids from the configuration or fixed words. */
export function createOperationMetrics(registry: Registry, log: Logger) {
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
    outcomeLost({ operationId, emr }: About) {
      lost.inc({ emr });
      log.error({ operation_id: operationId, emr }, 'operation ended: outcome unknown, will not be retried');
    },
    /** The EHR performed part of the operation, and compensation failed. */
    partiallyApplied({ operationId, emr }: About) {
      partial.inc({ emr });
      log.error({ operation_id: operationId, emr }, 'operation partially applied: compensation failed');
    },
    lateEffect({ operationId, emr }: About, became: 'adopted' | 'undone') {
      late.inc({ emr, became });
      log.warn({ operation_id: operationId, emr, became }, 'late effect of an operation found in the EHR');
    },
    leaseLost: (emr: string) => leases.inc({ emr }),
    suspended({ operationId, emr }: About) {
      log.error({ operation_id: operationId, emr }, 'operation suspended');
    },
  };
}
