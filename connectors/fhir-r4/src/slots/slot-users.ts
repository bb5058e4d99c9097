import { overlaps } from '@crossward/connector-kit';
import { searchAppointments } from '../appointments/searches.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { appointmentTime, keepsSlots, slotsOf, standingOf } from '../mappers/appointment.ts';
import { slotTime } from '../mappers/slot.ts';
import { chunks } from '../server/chunks.ts';
import type { SearchOptions } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRejection } from '../server/outcome.ts';
import { defaultPageSize } from '../settings.ts';

/**
 * An appointment that takes the time of each of these slots. Key: the slot. Staff may book a second appointment in a Slot, and the
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
  const others = found.filter((it) => !except.has(it.id ?? ''));
  // A booked one first: the Slot is handed over to it.
  const isBooked = (it: FhirAppointment) => standingOf(it, now).state === 'booked';
  const inOrder = [...others.filter(isBooked), ...others.filter((it) => !isBooked(it))];
  return new Map(
    slots.flatMap((slot) => {
      const reference = referenceTo(slot);
      const user = inOrder.find((it) => takes(it, slot, now));
      return user ? [[reference, user] as const] : [];
    }),
  );
}

/** Whether the owner of a slot's claim, which is active, still needs it: it names the slot, or is at its time. */
export function keeps({ settings }: FhirConnection, owner: FhirAppointment, slot: FhirSlot): boolean {
  if (isAtTimeOf(owner, slot)) return true;
  return !settings.slots?.check_appointments && slotsOf(owner).includes(referenceTo(slot));
}

/**
 * Whether an appointment that names a slot takes its time from others. A request, an entry of a waiting list, a visit that is
 * over and an appointment that was moved elsewhere may still name the slot, and do not take it:
 * https://hl7.org/fhir/R4/valueset-appointmentstatus.html
 */
export function takes(appointment: FhirAppointment, slot: FhirSlot, now: Date): boolean {
  const { status = '' } = appointment;
  if (!keepsSlots(appointment, now) || takesNoTime.has(status)) return false;
  if (!slotsOf(appointment).includes(referenceTo(slot))) return false;
  // Of a booked one without a time that can be read, the slot says the time.
  if (appointmentTime(appointment) === null) return standingOf(appointment, now).state !== 'pending';
  return isAtTimeOf(appointment, slot);
}

const takesNoTime: ReadonlySet<string> = new Set(['proposed', 'waitlist', 'fulfilled']);

function isAtTimeOf(appointment: FhirAppointment, slot: FhirSlot): boolean {
  const [time, range] = [appointmentTime(appointment), slotTime(slot)];
  return time !== null && range !== null && overlaps(time, range);
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
