import type { TimeSlotQuery } from '@crossward/connector-kit';
import type { BookingConnection } from '../connection.ts';
import type { CareUnitDirectory } from '../directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { slotsOf } from '../mappers/appointment.ts';
import { slotState, slotTime } from '../mappers/slot.ts';
import type { FreeTime, FreeTimeSource } from './list.ts';
import { searchSlots } from './search.ts';
import { livingOwners } from './slot-owners.ts';

/** Ids of appointments whose slots count as free, besides those that the query names. */
type AlsoFreeing = (directory: CareUnitDirectory, query: TimeSlotQuery) => Promise<readonly string[]>;

/** Free times that are Slot resources. */
export function slotTimes(ehr: BookingConnection, alsoFreeing: AlsoFreeing = async () => []): FreeTimeSource {
  return async (directory, schedules, query) => {
    const ids = [...(query.freeing ?? []), ...(await alsoFreeing(directory, query))];
    const freed = await slotsOfAppointments(ehr, ids);
    return async (range) => {
      const slots = await searchSlots(ehr, directory, schedules, {
        ...range,
        statuses: freed.size > 0 ? undefined : 'free,busy-tentative',
        services: query.healthcareServiceIds,
      });
      return (await freeSlots(ehr, slots, freed)).flatMap((slot) => freeTime(slot, directory));
    };
  };
}

function freeTime(slot: FhirSlot, directory: CareUnitDirectory): FreeTime[] {
  const time = slotTime(slot);
  const offer = directory.offerOf(slot);
  if (!time || !offer) return [];
  return [{ ...time, resourceId: offer.resourceId, serviceIds: offer.services.map(({ id }) => id) }];
}

async function slotsOfAppointments(
  { client }: BookingConnection,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const appointments = await client.readMany<FhirAppointment>(ids.map((id) => `Appointment/${id}`));
  return new Set(appointments.flatMap(slotsOf));
}

/**
 * The slots that can be booked: free ones, those of an expired claim whose owner no longer needs them, and those in
 * `freed`, which their appointment is about to leave.
 */
export async function freeSlots(
  ehr: BookingConnection,
  slots: readonly FhirSlot[],
  freed: ReadonlySet<string>,
): Promise<FhirSlot[]> {
  const now = ehr.client.clock.now();
  const expired = slots.filter((slot) => slotState(slot, now) === 'expired');
  const owners = await livingOwners(ehr, expired, now);
  return slots.filter((slot) => {
    if (freed.has(referenceTo(slot))) return slot.status !== 'busy-unavailable' && slot.status !== 'entered-in-error';
    const state = slotState(slot, now);
    return state === 'free' || (state === 'expired' && !owners.has(referenceTo(slot)));
  });
}
