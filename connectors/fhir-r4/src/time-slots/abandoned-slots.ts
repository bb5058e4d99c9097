import { overlaps } from '@crossward/connector-kit';
import { chunks } from '../chunks.ts';
import type { BookingConnection } from '../connection.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { appointmentTime, keepsSlots, slotsOf, standingOf } from '../mappers/appointment.ts';
import { claimOf, slotTime } from '../mappers/slot.ts';
import { isRejection } from '../outcome.ts';
import { namesAppointment, ownersOf } from './slot-owners.ts';

/**
 * A search index may be behind for a moment. An owner that it does not return counts as deleted only after this time.
 */
const settlingMilliseconds = 120_000;

/**
 * The slots that are `busy` by a claim of the gateway and that no appointment needs: staff have cancelled or deleted
 * the owner, or the visit did not take place, without a change of the Slot. A slot that is `busy` without a claim
 * belongs to the staff.
 *
 * @param seen appointments that were read with the slots: a slot that one of them needs costs no request
 */
export async function abandonedSlots(
  ehr: BookingConnection,
  slots: readonly FhirSlot[],
  seen: readonly FhirAppointment[] = [],
): Promise<ReadonlySet<string>> {
  const now = ehr.client.clock.now();
  const isNeededIn = (appointments: Iterable<FhirAppointment>) => {
    const active = [...appointments].filter((it) => keepsSlots(it, now));
    return (slot: FhirSlot) => active.some((it) => needs(ehr, it, slot));
  };
  const isNeededBySeen = isNeededIn(seen);
  const doubtful = slots.filter((it) => it.status === 'busy' && claimOf(it) !== null && !isNeededBySeen(it));
  if (doubtful.length === 0) return new Set();
  const naming = await appointmentsNaming(ehr, doubtful);
  if (naming === null) return new Set();
  const isNeededByNaming = isNeededIn(naming);
  const unnamed = doubtful.filter((slot) => !isNeededByNaming(slot));
  const owners = await ownersOf(ehr, unnamed);
  const isNeededByOwner = isNeededIn(owners.values());
  const abandoned = unnamed.filter((slot) => {
    if (isNeededByOwner(slot)) return false;
    const { owner = '', until = null } = claimOf(slot) ?? {};
    const appointment = owners.get(referenceTo(slot));
    if (until) return until <= now || !mayBeInProgress(owner, appointment, now);
    const age = now.getTime() - new Date(slot.meta?.lastUpdated ?? now).getTime();
    return appointment !== undefined || namesAppointment(owner) || age > settlingMilliseconds;
  });
  return new Set(abandoned.map(referenceTo));
}

/**
 * Whether the write that claimed a slot may still be in progress, although no appointment needs the slot: it creates the
 * appointment, moves it there, or confirms its expired hold.
 */
function mayBeInProgress(owner: string, appointment: FhirAppointment | undefined, now: Date): boolean {
  if (!appointment) return !namesAppointment(owner);
  const { state, hasExpired } = standingOf(appointment, now);
  return hasExpired || (namesAppointment(owner) && state !== 'cancelled');
}

/** Whether an active appointment needs a slot: it names the slot, or is at its time. */
function needs({ settings }: BookingConnection, appointment: FhirAppointment, slot: FhirSlot): boolean {
  const [time, range] = [appointmentTime(appointment), slotTime(slot)];
  const isThen = time !== null && range !== null && overlaps(time, range);
  if (settings.slots?.check_appointments) return isThen;
  return isThen || slotsOf(appointment).includes(referenceTo(slot));
}

/** `null`: the server does not search by slot. */
async function appointmentsNaming(
  { client }: BookingConnection,
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
