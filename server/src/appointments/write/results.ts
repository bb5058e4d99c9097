import type { Appointment } from '@crossward/connector-kit';
import type { ChangeStep, Results } from './plan.ts';

/** The appointments that the EHR returned, by index of their step. */
export function resultsOf(changes: readonly ChangeStep[], returned: readonly Appointment[]): Results {
  return new Map(
    changes.map(({ index }, position) => {
      const appointment = returned[position];
      if (!appointment) throw new Error('The EHR returned fewer appointments than it was sent changes');
      return [index, appointment];
    }),
  );
}
