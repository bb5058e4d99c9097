import { Counter, type Registry } from 'prom-client';

export interface WrongNameMetrics {
  /** A wrong name or birth date was sent with a patient's number. */
  counted(emr: string): void;
  /** Nothing was compared, because of too many wrong ones before. */
  refused(emr: string): void;
}

export function createWrongNameMetrics(registry: Registry): WrongNameMetrics {
  const wrong = new Counter({
    name: 'crossward_patient_wrong_names_total',
    help: "Requests to find or create a patient with another name or birth date than the EHR's (outcome mismatch), and those in the pause after too many of them (refused).",
    labelNames: ['emr', 'outcome'],
    registers: [registry],
  });
  return {
    counted: (emr) => wrong.inc({ emr, outcome: 'mismatch' }),
    refused: (emr) => wrong.inc({ emr, outcome: 'refused' }),
  };
}
