import { overlaps } from '@crossward/connector-kit';
import type { Domain, RpcClient } from '../rpc/client.ts';
import { toRpc } from '../rpc/values.ts';
import { defaultMinutes, type GnuHealthSettings } from '../settings.ts';
import { searchAllRows, type TimedRow, takingStates, timed } from './record.ts';

interface Range {
  readonly start: Date;
  readonly end: Date;
}

/** Rows that overlap the range. Those without an end have the usual length. */
export function overlapping(
  { start, end }: Range,
  { minutes_without_end = defaultMinutes }: GnuHealthSettings,
): Domain {
  const latestStart = new Date(start.getTime() - minutes_without_end * 60_000);
  return [
    ['appointment_date', '<', toRpc(end)],
    [
      'OR',
      ['appointment_date_end', '>', toRpc(start)],
      // An end that is not after the start counts as missing.
      ['appointment_date', '>', toRpc(latestStart)],
    ],
  ];
}

/**
 * The appointments and free times of these professionals that overlap the range, at any institution.
 *
 * @throws ConnectorError `rejected` if one cannot be read: the time may be taken
 */
export async function rowsAt(
  rpc: RpcClient,
  settings: GnuHealthSettings,
  professionals: readonly number[],
  range: Range,
  search = searchAllRows,
): Promise<{ readonly taken: readonly TimedRow[]; readonly free: readonly TimedRow[] }> {
  const rows = await search(rpc, [
    ['healthprof', 'in', professionals],
    ['state', 'in', ['free', ...takingStates]],
    ...overlapping(range, settings),
  ]);
  const there = rows.flatMap((row) => timed(row, settings) ?? []).filter((row) => overlaps(row, range));
  return { taken: there.filter(({ state }) => state !== 'free'), free: there.filter(({ state }) => state === 'free') };
}
