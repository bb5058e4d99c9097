import { Counter, type Registry } from 'prom-client';

export interface WriteMetrics {
  outcomeLost(emr: string): void;
}

/** The label is a name from the configuration. */
export function createWriteMetrics(registry: Registry): WriteMetrics {
  const lost = new Counter({
    name: 'crossward_writes_outcome_lost_total',
    help: 'Writes of which an EHR that cannot be asked for them has shown nothing for long enough.',
    labelNames: ['emr'],
    registers: [registry],
  });
  return { outcomeLost: (emr) => lost.inc({ emr }) };
}
