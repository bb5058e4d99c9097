import { overlaps, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { pageOfTimeSlots } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { recordIds, toRpc } from '../rpc/values.ts';
import { pagesByStart } from './pages.ts';
import { searchRows, type TimedRow, takingStates, timed, toTimeSlot } from './record.ts';
import { rowsAt } from './times.ts';

/**
 * Appointments in the state `free`. Tryton does not compare records, so staff can confirm an appointment over a free time:
 * then it is not free.
 */
export async function listTimeSlots(ehr: Ehr, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const { careUnit, end, resourceIds, healthcareServiceIds, freeing = [], after } = query;
  const { rpc, settings } = ehr;
  const { resources, services } = await ehr.directory.of(careUnit);
  const professionals = wantedIds(resources, resourceIds);
  const specialities = wantedIds(services, healthcareServiceIds);
  if (professionals.length === 0 || specialities.length === 0) return [];
  const start = new Date(Math.max(query.start.getTime(), ehr.now().getTime()));
  const matching = [
    ['institution', '=', ehr.directory.institutionOf(careUnit)],
    ['healthprof', 'in', professionals],
    ['speciality', 'in', specialities],
    ['appointment_date', '>=', toRpc(start)],
    ['appointment_date', '<', toRpc(end)],
  ];
  const leaving = await leavingOf(ehr, matching, freeing);
  return pageOfTimeSlots(freeTimes(), query, ehr.now(), leaving);

  async function* freeTimes() {
    for await (const rows of pagesByStart(rpc, [...matching, ['state', '=', 'free']], after?.start)) {
      const free = rows.flatMap((row) => timed(row, settings) ?? []);
      const taken = await takenDuring(ehr, professionals, free);
      const isFree = (row: TimedRow) =>
        !taken.some((it) => !freeing.includes(String(it.id)) && it.healthprof === row.healthprof && overlaps(it, row));
      yield free.filter(isFree).flatMap((row) => toTimeSlot(row, settings) ?? []);
    }
  }
}

/** The times of the appointments that the caller is about to move or cancel: they become free times. */
async function leavingOf(ehr: Ehr, matching: readonly unknown[], freeing: readonly string[]): Promise<TimeSlot[]> {
  const ids = recordIds(freeing);
  if (ids.length === 0) return [];
  const rows = await searchRows(ehr.rpc, [...matching, ['id', 'in', ids], ['state', 'in', takingStates]]);
  const leaving = rows.flatMap((row) => timed(row, ehr.settings) ?? []);
  const others = await Promise.all(
    leaving.map((row) => rowsAt(ehr.rpc, ehr.settings, [row.healthprof], row, searchRows)),
  );
  return leaving
    .filter((_, index) => (others[index]?.taken ?? []).every(({ id }) => ids.includes(id)))
    .flatMap((row) => toTimeSlot(row, ehr.settings) ?? []);
}

async function takenDuring(
  { rpc, settings }: Ehr,
  professionals: readonly number[],
  rows: readonly TimedRow[],
): Promise<readonly TimedRow[]> {
  const [first] = rows;
  if (!first) return [];
  const end = new Date(Math.max(...rows.map((row) => row.end.getTime())));
  return (await rowsAt(rpc, settings, professionals, { start: first.start, end }, searchRows)).taken;
}

function wantedIds(known: readonly { readonly id: string }[], wanted: readonly string[] | undefined): number[] {
  return recordIds(known.map(({ id }) => id).filter((id) => wanted?.includes(id) ?? true));
}
