import type { Domain, RpcClient } from '../rpc/client.ts';
import { fromRpc, toRpc } from '../rpc/values.ts';
import { type AppointmentRow, searchRowPage } from './record.ts';

const pageSize = 500;

/**
 * Rows by their start, a page at a time. Rows with the same start come in one page, because the server sorts their ids as
 * numbers and the port as texts.
 */
export async function* pagesByStart(
  rpc: RpcClient,
  domain: Domain,
  from: Date | undefined,
): AsyncGenerator<readonly AppointmentRow[]> {
  let since = from;
  let size = pageSize;
  for (;;) {
    const { rows, isFull } = await searchRowPage(
      rpc,
      since ? [...domain, ['appointment_date', '>=', toRpc(since)]] : domain,
      {
        order: [
          ['appointment_date', 'ASC'],
          ['id', 'ASC'],
        ],
        limit: size,
      },
    );
    if (!isFull) {
      yield rows;
      return;
    }
    const last = startOf(rows.at(-1));
    const whole = rows.filter((row) => startOf(row) !== last);
    // More rows than a page start at the same time.
    if (whole.length === 0) size *= 2;
    else yield whole;
    since = new Date(last);
  }
}

function startOf(row: AppointmentRow | undefined): number {
  return row?.appointment_date ? fromRpc(row.appointment_date).getTime() : 0;
}
