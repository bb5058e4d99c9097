import type { RpcClient } from '../rpc/client.ts';
import { fromRpc, type RpcDateTime } from '../rpc/values.ts';
import { type LoggedWrite, searchWrites } from './log.ts';
import type { AppointmentRow } from './record.ts';

/**
 * When rows were booked, by id, if it was since `from`. Staff make free rows long before somebody is booked, so the log tells
 * when a row got its patient, or became confirmed.
 */
export async function bookedSince(
  rpc: RpcClient,
  rows: readonly AppointmentRow[],
  from: RpcDateTime,
): Promise<ReadonlyMap<number, Date>> {
  const ids = rows.map(({ id }) => id);
  const writes = Map.groupBy(await searchWrites(rpc, ids, from), ({ rowId }) => rowId);
  return new Map(
    rows.flatMap((row) => {
      const bookings = (writes.get(row.id) ?? []).filter((write) => isBooking(write, row));
      const times = [row.create_date, ...bookings.map(({ at }) => at)].flatMap((it) =>
        it ? fromRpc(it).getTime() : [],
      );
      const last = Math.max(...times);
      return last < fromRpc(from).getTime() ? [] : [[row.id, new Date(last)] as const];
    }),
  );
}

function isBooking({ fields }: LoggedWrite, { state }: AppointmentRow): boolean {
  return fields.includes('patient') || (state === 'confirmed' && fields.includes('state'));
}
