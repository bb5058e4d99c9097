import type { AppointmentChanges, AppointmentChangesQuery } from '@crossward/connector-kit';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { appointment, selectAppointments } from './appointment-reads.ts';
import type { SandboxTables } from './tables.ts';

/**
 * Appointments by the transaction that last changed them. Transactions commit in another order than they begin, so only
 * those are read that no transaction in progress can precede. The position is the last transaction and id that were read.
 */
export async function listAppointmentChanges(
  db: Kysely<SandboxTables>,
  emr: string,
  { careUnits, after, limit }: AppointmentChangesQuery,
): Promise<AppointmentChanges> {
  const horizon = sql<string>`pg_snapshot_xmin(pg_current_snapshot())`;
  if (after === undefined) {
    const { rows } = await sql<{ next: string }>`SELECT ${horizon}::text AS next`.execute(db);
    return { changes: [], next: `${rows[0]?.next} `, hasMore: false };
  }
  const changedSince = (position: string) => selectAppointments(db, emr).where(isAfter(position));
  const rows = await changedSince(after)
    .select(['created_at', 'changed_at', sql<string>`changed_by::text`.as('changed_by')])
    .where(sql<boolean>`changed_by < ${horizon}`)
    .orderBy(sql`sandbox.appointments.changed_by`)
    .orderBy('id')
    .limit(limit)
    .execute();
  const last = rows.at(-1);
  const next = last ? `${last.changed_by} ${last.id}` : after;
  const hasMore = rows.length === limit;
  const heldBack = hasMore
    ? undefined
    : await changedSince(next).clearSelect().select(sql<Date | null>`min(changed_at)`.as('since')).executeTakeFirst();
  const isShown = (row: { readonly care_unit_id: string }) => careUnits.some(({ id }) => id === row.care_unit_id);
  return {
    changes: rows.filter(isShown).map((row) => ({
      appointment: appointment(row),
      changedAt: row.changed_at,
      createdAt: row.created_at,
    })),
    hidden: rows.filter((row) => !isShown(row)).map(({ id }) => id),
    next,
    hasMore,
    ...(heldBack?.since ? { heldBackSince: heldBack.since } : {}),
  };
}

function isAfter(position: string): RawBuilder<boolean> {
  const [transaction = '', id = ''] = position.split(/ (.*)/s);
  return sql`(changed_by, id) > (${transaction}::xid8, ${id})`;
}
