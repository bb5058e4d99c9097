import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';

/**
 * Takes turns of a rate that all processes together never exceed.
 *
 * @param count how many that may be used together
 * @returns seconds until then. Not above 0: at once
 */
export type TakeTurns = (count: number, perSecond: number) => Promise<number>;

/**
 * The next turn of an EHR is a row that all processes share.
 *
 * @returns rejects with the errors of the database
 */
export function sharedTurns(db: Db, emr: string): TakeTurns {
  return async (count, perSecond) => {
    const seconds = count / perSecond;
    const { rows } = await sql<{ wait: number }>`
      INSERT INTO ehr_turns AS current (emr, next_at)
      VALUES (${emr}, clock_timestamp() + make_interval(secs => ${seconds}))
      ON CONFLICT (emr) DO UPDATE
        SET next_at = greatest(current.next_at, clock_timestamp()) + make_interval(secs => ${seconds})
      RETURNING extract(epoch FROM next_at - clock_timestamp())::float8 - ${seconds}::float8 AS wait`.execute(db);
    return rows[0]?.wait ?? 0;
  };
}
