import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

/** A write. */
type About = { readonly id: string; readonly emr: string };
export type WriteMetrics = ReturnType<typeof createWriteMetrics>;

/** Metrics and log lines about writes. Labels are ids from the configuration or fixed words. */
export function createWriteMetrics(registry: Registry, log: Logger) {
  const counter = <Label extends string = never>(name: string, help: string, ...labels: readonly Label[]) =>
    new Counter({ name, help, labelNames: ['emr', ...labels], registers: [registry] });
  const lost = counter('crossward_operations_outcome_lost_total', 'Operations whose outcome could not be determined.');
  const partial = counter('crossward_operations_partially_applied_total', 'Operations that could not be compensated.');
  const leases = counter('crossward_operations_leases_lost_total', 'Leases that expired during their operation.');
  const lateHelp = 'Operations that an EHR performed after they had ended without effect.';
  const late = counter('crossward_operations_turned_up_late_total', lateHelp, 'became');
  return {
    /** The outcome could not be determined. */
    outcomeLost({ id, emr }: About) {
      lost.inc({ emr });
      log.error({ operation_id: id, emr }, 'operation ended: outcome unknown, will not be retried');
    },
    /** The EHR performed part of the write, and compensation failed. */
    partiallyApplied({ id, emr }: About) {
      partial.inc({ emr });
      log.error({ operation_id: id, emr }, 'operation partially applied: compensation failed');
    },
    lateEffect({ id, emr }: About, became: 'adopted' | 'undone') {
      late.inc({ emr, became });
      log.warn({ operation_id: id, emr, became }, 'late effect of an operation found in the EHR');
    },
    leaseLost: (emr: string) => leases.inc({ emr }),
    suspended({ id, emr }: About) {
      log.error({ operation_id: id, emr }, 'operation suspended');
    },
  };
}
