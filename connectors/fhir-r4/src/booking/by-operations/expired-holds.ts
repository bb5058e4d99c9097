import { type AppointmentWrite, overlaps, type TimeSlotQuery } from '@crossward/connector-kit';
import { searchAppointments } from '../../appointments/searches.ts';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import type { FhirAppointment } from '../../fhir.ts';
import { appointmentTime, slotsOf, standingOf } from '../../mappers/appointment.ts';
import type { SearchParameters } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { defaultPageSize } from '../../settings.ts';
import { quietly } from '../write/outcomes.ts';
import type { OperationForm, Wanted } from './form.ts';
import { giveUp } from './holds.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

interface Where {
  /** `undefined`: every resource of the care unit. */
  readonly resourceIds: readonly string[] | undefined;
  readonly start: Date;
  readonly end: Date;
}

/**
 * The holds of these resources that have expired, although the EHR still holds their time: an EHR ends a `$hold` at a
 * time of its own choice.
 */
async function expiredHolds(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  where: Where,
): Promise<readonly FhirAppointment[]> {
  const now = ehr.client.clock.now();
  const pending = await appointmentsIn(ehr, directory, where, [['status', 'pending']]);
  return pending.filter((it) => standingOf(it, now).hasExpired);
}

async function appointmentsIn(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  { resourceIds, start, end }: Where,
  others: SearchParameters,
): Promise<readonly FhirAppointment[]> {
  const ids = resourceIds ?? directory.knownIds;
  const actors = ids.flatMap((id) => directory.namesOf(id));
  const wanted = {
    actors,
    // `date` is the start. No appointment is expected to be longer than a day.
    from: new Date(start.getTime() - dayMilliseconds),
    before: end,
    others: [...others, ['_count', String(defaultPageSize)]],
  } as const;
  const found = await searchAppointments(ehr.client.habits, wanted, (parameters) =>
    ehr.client.search<FhirAppointment>('Appointment', parameters, { droppable: ['status'] }),
  );
  return found.flat().filter((it) => {
    const time = appointmentTime(it);
    return time !== null && overlaps(time, { start, end });
  });
}

/** Adds the expired holds in a query's range to it: their time counts as free. */
export async function withExpiredHolds(ehr: BookingConnection, query: TimeSlotQuery): Promise<TimeSlotQuery> {
  const directory = await ehr.directory.of(query.careUnit);
  const { resourceIds, start, end, freeing = [] } = query;
  const expired = await expiredHolds(ehr, directory, { resourceIds, start, end });
  return { ...query, freeing: [...freeing, ...expired.flatMap(({ id }) => id ?? [])] };
}

/** Ends the expired holds at the times that are to be booked. */
export async function endExpiredHolds(
  ehr: BookingConnection,
  form: OperationForm,
  { careUnit, changes }: AppointmentWrite,
): Promise<void> {
  const directory = await ehr.directory.of(careUnit);
  for (const change of changes) {
    if (change.kind !== 'create') continue;
    const expired = await expiredHolds(ehr, directory, { ...change, resourceIds: [change.resourceId] });
    // If another write was faster, the hold is already confirmed or ended. Booking the time shows which.
    for (const held of expired) await quietly(() => giveUp(ehr, form, held));
  }
}

/**
 * Finishes cancellations at a time that is taken: another call may have cancelled an appointment, and not yet have freed
 * its time.
 *
 * @returns whether there was one
 */
export async function finishCancellations(
  ehr: BookingConnection,
  { afterCancel }: OperationForm,
  { directory, resourceId, start, end }: Wanted,
): Promise<boolean> {
  if (!afterCancel) return false;
  const all = await appointmentsIn(ehr, directory, { resourceIds: [resourceId], start, end }, []);
  const needed = new Set(all.flatMap((it) => (it.status === 'cancelled' ? [] : slotsOf(it))));
  const left = all.filter((it) => it.status === 'cancelled' && !slotsOf(it).some((slot) => needed.has(slot)));
  for (const appointment of left) await afterCancel(ehr, appointment);
  return left.length > 0;
}
