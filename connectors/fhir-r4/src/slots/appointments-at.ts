import { searchAppointments } from '../appointments/searches.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import type { FhirAppointment, FhirSlot } from '../fhir.ts';
import { slotTime } from '../mappers/slot.ts';
import type { SearchOptions } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultPageSize } from '../settings.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * The appointments of the slots' resources from the first slot to the last, and some more.
 *
 * @throws ConnectorError `rejected` with `strict` if one cannot be read
 */
export async function appointmentsAt(
  { client }: FhirConnection,
  directory: CareUnitDirectory,
  slots: readonly FhirSlot[],
  { strict = false }: Pick<SearchOptions, 'strict'> = {},
): Promise<readonly FhirAppointment[]> {
  const times = slots.flatMap((slot) => slotTime(slot) ?? []);
  const start = Math.min(...times.map((it) => it.start.getTime()));
  const end = Math.max(...times.map((it) => it.end.getTime()));
  if (!Number.isFinite(start)) return [];
  const resources = new Set(slots.flatMap((slot) => directory.offerOf(slot)?.resourceId ?? []));
  const actors = [...resources].flatMap((id) => directory.namesOf(id));
  const wanted = {
    actors,
    // `date` is the start. No appointment is expected to be longer than a day.
    from: new Date(start - dayMilliseconds),
    before: new Date(end),
    others: [['_count', String(defaultPageSize)]],
  } as const;
  const found = await searchAppointments(client.habits, wanted, (parameters) =>
    client.search<FhirAppointment>('Appointment', parameters, { strict }),
  );
  return found.flat();
}
