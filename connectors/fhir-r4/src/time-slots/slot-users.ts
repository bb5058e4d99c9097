import { overlaps } from '@crossward/connector-kit';
import { chunks } from '../chunks.ts';
import type { FhirConnection } from '../connection.ts';
import type { CareUnitDirectory } from '../directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { appointmentTime, keepsSlots, slotsOf, standingOf } from '../mappers/appointment.ts';
import { slotTime } from '../mappers/slot.ts';
import { isRejection } from '../outcome.ts';
import { appointmentsAt } from './appointments-at.ts';

/**
 * An active appointment that needs each of these slots. Key: the slot. Staff may book a second appointment in a Slot, and the
 * Slot says nothing about it. Read the Slots first: an appointment that is made after this search, together with a change of
 * its Slot, then fails the write by the version of the Slot.
 *
 * @param except ids of appointments that leave the slots
 */
export async function slotUsers(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  slots: readonly FhirSlot[],
  except: ReadonlySet<string>,
): Promise<ReadonlyMap<string, FhirAppointment>> {
  if (slots.length === 0) return new Map();
  const now = ehr.client.clock.now();
  const naming = ehr.searchesBySlot ? await appointmentsNaming(ehr, slots) : null;
  const found = naming ?? (await appointmentsAt(ehr, directory, slots));
  const active = found.filter((it) => keepsSlots(it, now) && !except.has(it.id ?? ''));
  // A booked one first: the Slot is handed over to it.
  const isBooked = (it: FhirAppointment) => standingOf(it, now).state === 'booked';
  const inOrder = [...active.filter(isBooked), ...active.filter((it) => !isBooked(it))];
  return new Map(
    slots.flatMap((slot) => {
      const reference = referenceTo(slot);
      const user = inOrder.find((it) => slotsOf(it).includes(reference) && needs(ehr, it, slot));
      return user ? [[reference, user] as const] : [];
    }),
  );
}

/** Whether an active appointment needs a slot: it names the slot, or is at its time. */
export function needs({ settings }: FhirConnection, appointment: FhirAppointment, slot: FhirSlot): boolean {
  const [time, range] = [appointmentTime(appointment), slotTime(slot)];
  const isThen = time !== null && range !== null && overlaps(time, range);
  if (settings.slots?.check_appointments) return isThen;
  return isThen || slotsOf(appointment).includes(referenceTo(slot));
}

/** `null`: the server does not search by slot. */
export async function appointmentsNaming(
  { client }: FhirConnection,
  slots: readonly FhirSlot[],
): Promise<readonly FhirAppointment[] | null> {
  try {
    const found = await Promise.all(
      chunks(slots.map(referenceTo), 20).map((some) =>
        client.search<FhirAppointment>('Appointment', [['slot', some.join(',')]], { few: true }),
      ),
    );
    const asked = new Set(slots.map(referenceTo));
    return found.flat().filter((it) => slotsOf(it).some((slot) => asked.has(slot)));
  } catch (error) {
    if (isRejection(error)) return null;
    throw error;
  }
}
