import { overlaps, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { pageOfTimeSlots } from '@crossward/connector-kit/rest';
import type { At } from '../ehr.ts';
import { equal } from '../rpc/client.ts';
import { recordIds, toRpc } from '../rpc/values.ts';
import { toTimeSlot } from './record.ts';
import { pagesByStart, rowsAt, searchRows, type TimedRow, timed } from './rows.ts';
import { takingStates } from './states.ts';

/**
 * Appointments in the state `free`. Tryton does not compare records, so staff can confirm an appointment over a free time:
 * then it is not free.
 */
export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const { end, resourceIds, healthcareServiceIds, freeing = [], after } = query;
  const { client, settings } = at;
  const { resources, services } = await at.lists.get();
  const professionals = wantedIds(resources, resourceIds);
  const specialities = wantedIds(services, healthcareServiceIds);
  if (professionals.length === 0 || specialities.length === 0) return [];
  const start = new Date(Math.max(query.start.getTime(), at.now().getTime()));
  const matching = [
    ...equal({ institution: at.unit.institution }),
    ['healthprof', 'in', professionals],
    ['speciality', 'in', specialities],
    ['appointment_date', '>=', toRpc(start)],
    ['appointment_date', '<', toRpc(end)],
  ];
  const leaving = await leavingOf(at, matching, freeing);
  return pageOfTimeSlots(freeTimes(), query, at.now(), leaving);

  async function* freeTimes() {
    for await (const rows of pagesByStart(client, [...matching, ...equal({ state: 'free' })], after?.start)) {
      const free = rows.flatMap((row) => timed(row, settings) ?? []);
      const taken = await takenDuring(at, professionals, free);
      const isFree = (row: TimedRow) =>
        !taken.some((it) => !freeing.includes(String(it.id)) && it.healthprof === row.healthprof && overlaps(it, row));
      yield free.filter(isFree).flatMap((row) => toTimeSlot(row, settings) ?? []);
    }
  }
}

/** The times of the appointments that the caller is about to move or cancel: they become free times. */
async function leavingOf(at: At, matching: readonly unknown[], freeing: readonly string[]): Promise<TimeSlot[]> {
  const ids = recordIds(freeing);
  if (ids.length === 0) return [];
  const rows = await searchRows(at.client, [...matching, ['id', 'in', ids], ['state', 'in', takingStates]]);
  const leaving = rows.flatMap((row) => timed(row, at.settings) ?? []);
  const others = await Promise.all(leaving.map((row) => rowsAt(at, [row.healthprof], row, searchRows)));
  return leaving
    .filter((_, index) => (others[index]?.taken ?? []).every(({ id }) => ids.includes(id)))
    .flatMap((row) => toTimeSlot(row, at.settings) ?? []);
}

async function takenDuring(at: At, professionals: readonly number[], rows: readonly TimedRow[]) {
  const [first] = rows;
  if (!first) return [];
  const end = new Date(Math.max(...rows.map((row) => row.end.getTime())));
  return (await rowsAt(at, professionals, { start: first.start, end }, searchRows)).taken;
}

function wantedIds(known: readonly { readonly id: string }[], wanted: readonly string[] | undefined): number[] {
  return recordIds(known.map(({ id }) => id).filter((id) => wanted?.includes(id) ?? true));
}
