import type { AppointmentState } from '@crossward/connector-kit';
import { type RawBuilder, sql } from 'kysely';

/**
 * The state as the database's clock sees it: a hold that has run out is cancelled, whether or not anything has swept
 * it. `clock_timestamp()`, since a transaction may have waited for a lock since its `now()`.
 */
export const currentState: RawBuilder<AppointmentState> = sql`
  CASE WHEN state = 'held' AND held_until <= clock_timestamp() THEN 'cancelled' ELSE state END`;

/** Whether the appointment's time is taken. */
export const takenState: RawBuilder<boolean> = sql<boolean>`
  state <> 'cancelled' AND (state <> 'held' OR held_until > clock_timestamp())`;
