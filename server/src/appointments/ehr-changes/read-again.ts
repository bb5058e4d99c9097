import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { storeChanges } from './store-changes.ts';

/**
 * Reads appointments again of which an event was written after they were read. One that does not exist any more is forgotten,
 * unless it was read as cancelled: some EHRs tell deletions so.
 */
export async function readAgain(db: Db, ehr: EhrConnection): Promise<void> {
  const stale = await db
    .selectFrom('ehr_changes')
    .select(['appointment_id', 'care_unit_id', sql<Date>`clock_timestamp()`.as('readAt')])
    .where('emr', '=', ehr.id)
    .where('is_stale', '=', true)
    .limit(100)
    .execute();
  for (const [careUnitId, rows] of Map.groupBy(stale, ({ care_unit_id }) => care_unit_id)) {
    const careUnit = ehr.careUnits.get(careUnitId);
    const ids = rows.map(({ appointment_id }) => appointment_id);
    const [{ readAt } = { readAt: new Date(0) }] = rows;
    const found = careUnit ? await ehr.call('findAppointments', careUnit, ids) : [];
    await db.transaction().execute(async (tx) => {
      await storeChanges(
        tx,
        ehr.id,
        found.map((appointment) => ({ appointment, isNew: false })),
        readAt,
      );
      await tx
        .updateTable('ehr_changes')
        .set({ is_stale: false, read_at: readAt, stored_at: sql<Date>`clock_timestamp()` })
        .where('emr', '=', ehr.id)
        .where('appointment_id', 'in', ids)
        .where('is_stale', '=', true)
        .where('state', '=', 'cancelled')
        .execute();
      await tx
        .deleteFrom('ehr_changes')
        .where('emr', '=', ehr.id)
        .where('appointment_id', 'in', ids)
        .where('is_stale', '=', true)
        .execute();
    });
  }
}
