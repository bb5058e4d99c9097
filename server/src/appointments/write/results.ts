import type { Appointment } from '@crossward/connector-kit';
import type { ChangeStep, Results } from './plan.ts';

/** The appointments that the EHR has answered, by the steps of their changes. */
export function resultsOf(changes: readonly ChangeStep[], answered: readonly Appointment[]): Results {
  return new Map(
    changes.map(({ index }, position) => {
      const appointment = answered[position];
      if (!appointment) throw new Error('The EHR answered fewer appointments than it was given changes');
      return [index, appointment];
    }),
  );
}
