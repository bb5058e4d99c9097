import type { AppointmentState } from '@crossward/connector-kit';
import { type RawBuilder, sql } from 'kysely';
import type { AppointmentRow } from './tables.ts';

/**
 * The current state by the database's clock: an expired hold counts as cancelled, even if its row still says `held`.
 * Uses `clock_timestamp()` because `now()` is the start of the transaction, which may have waited for a lock since.
 */
export const currentState: RawBuilder<AppointmentState> = sql`
  CASE WHEN state = 'held' AND held_until <= clock_timestamp() THEN 'cancelled' ELSE state END`;

/** Whether the patient has arrived or the visit is over, so that it can be neither moved nor cancelled. */
export function hasStarted({ attendance }: Pick<AppointmentRow, 'attendance'>): boolean {
  return attendance === 'arrived' || attendance === 'completed';
}

/** Whether the appointment occupies its time. */
export const takenState: RawBuilder<boolean> = sql<boolean>`
  state <> 'cancelled' AND (state <> 'held' OR held_until > clock_timestamp())`;
