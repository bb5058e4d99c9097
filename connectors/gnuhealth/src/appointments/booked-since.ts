import type { RpcClient } from '../rpc/client.ts';
import { fromRpc, type RpcDateTime } from '../rpc/values.ts';
import { type AppointmentRow, model } from './record.ts';

/** An entry of Tryton's log. It names the fields that were written, such as `name,patient,state`, and no values. */
interface LoggedWrite {
  readonly id: number;
  readonly resource: string;
  readonly target: string | null;
  readonly create_date: RpcDateTime;
}

/**
 * When rows were booked, by id, if it was since `from`. Staff make free rows long before somebody is booked, so the log tells
 * when a row got its patient, or became confirmed.
 */
export async function bookedSince(
  rpc: RpcClient,
  rows: readonly AppointmentRow[],
  from: RpcDateTime,
): Promise<ReadonlyMap<number, Date>> {
  if (rows.length === 0) return new Map();
  const writes = await rpc.searchRead<LoggedWrite>({
    model: 'ir.model.log',
    domain: [
      ['event', '=', 'write'],
      ['create_date', '>=', from],
      ['resource', 'in', rows.map(({ id }) => `${model},${id}`)],
    ],
    fields: ['resource', 'target', 'create_date'],
  });
  const writesOf = Map.groupBy(writes, ({ resource }) => resource);
  return new Map(
    rows.flatMap((row) => {
      const times = [
        row.create_date,
        ...(writesOf.get(`${model},${row.id}`) ?? []).filter((it) => isBooking(it, row)).map((it) => it.create_date),
      ].map((it) => fromRpc(it).getTime());
      const last = Math.max(...times);
      return last < fromRpc(from).getTime() ? [] : [[row.id, new Date(last)] as const];
    }),
  );
}

function isBooking({ target }: LoggedWrite, { state }: AppointmentRow): boolean {
  const fields = target?.split(',') ?? [];
  return fields.includes('patient') || (state === 'confirmed' && fields.includes('state'));
}
