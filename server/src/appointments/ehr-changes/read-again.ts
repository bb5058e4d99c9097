import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { refreshStale } from './store-changes.ts';

/** Reads appointments again that have got an event since they were read. */
export async function readAgain(db: Db, ehr: EhrConnection): Promise<void> {
  const stale = await db
    .selectFrom('ehr_changes')
    .select(['appointment_id', 'care_unit_id', sql<string>`clock_timestamp()::text`.as('readAt')])
    .where('emr', '=', ehr.id)
    .where('is_stale', '=', true)
    .limit(100)
    .execute();
  for (const [careUnitId, rows] of Map.groupBy(stale, ({ care_unit_id }) => care_unit_id)) {
    const careUnit = ehr.careUnits.get(careUnitId);
    const ids = rows.map(({ appointment_id }) => appointment_id);
    const [{ readAt } = { readAt: '-infinity' }] = rows;
    const found = careUnit ? await ehr.call('findAppointments', careUnit, ids) : [];
    await db.transaction().execute((tx) => refreshStale(tx, ehr.id, ids, found, readAt));
  }
}
