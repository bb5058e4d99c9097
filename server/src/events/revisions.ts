import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** How often an appointment was changed, according to its events, and when last. */
export interface Revision {
  readonly count: number;
  readonly lastAt: Date;
}

/** The revisions of appointments of a care unit, by the ids that callers use. Those that were never changed are left out. */
export async function findRevisions(
  db: Db,
  { emr, careUnitId }: { readonly emr: string; readonly careUnitId: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, Revision>> {
  const { rows } = await sql<Revision & { readonly subject: string }>`
    SELECT subject, count(*)::int AS count, max(occurred_at) AS "lastAt" FROM events
    WHERE emr = ${emr} AND subject = ANY(${ids}::text[]) AND care_unit_id = ${careUnitId}
      AND type IN ('appointment.updated', 'appointment.cancelled')
    GROUP BY subject`.execute(db);
  return new Map(rows.map(({ subject, ...revision }) => [subject, revision]));
}
