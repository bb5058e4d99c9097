import { ConnectorError, overlaps, type Period } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { appointmentTime, keepsSlots, slotsOf } from '../mappers/appointment.ts';
import { readInstant } from '../mappers/instants.ts';
import { slotTime } from '../mappers/slot.ts';
import type { FhirConnection } from '../server/connection.ts';
import { appointmentsAt } from './slot-users.ts';

/**
 * The slots whose time an active appointment takes, whatever their status is. For a server whose staff move
 * appointments without changing the Slots: the setting `slots.check_appointments`. Without the setting there are none,
 * and no request is sent. An appointment takes the slots that it names, if they are at its time. Otherwise it was
 * moved, and takes every slot of its resources at its time.
 *
 * @param except ids of appointments that the write moves or cancels
 * @param options `strict`: for a write
 * @throws ConnectorError `rejected` with `strict` if an appointment cannot be read: it may take the time
 */
export async function occupiedSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  slots: readonly FhirSlot[],
  except: ReadonlySet<string>,
  { strict }: { readonly strict: boolean },
): Promise<ReadonlySet<string>> {
  if (!ehr.settings.slots?.check_appointments || slots.length === 0) return new Set();
  const now = ehr.client.clock.now();
  const appointments = (await appointmentsAt(ehr, directory, slots, { strict })).filter(
    (it) => keepsSlots(it, now) && !except.has(it.id ?? ''),
  );
  const unclear = appointments.find((it) => it.start !== undefined && !timeOf(it, directory));
  if (strict && unclear) {
    throw new ConnectorError('rejected', 'The EHR sent an Appointment that cannot be read, at /start');
  }
  return new Set(appointments.flatMap((it) => takenBy(it, slots, directory)));
}

/** One without an end takes what is at its start at least. `null`: it has no start, or one that cannot be read. */
function timeOf(appointment: FhirAppointment, directory: CareUnitDirectory): Period | null {
  const time = appointmentTime(appointment);
  const start = readInstant(appointment.start);
  if (time || !start) return time;
  const minutes = directory.serviceOf(appointment)?.durationMinutes ?? 1;
  return { start, end: new Date(start.getTime() + minutes * 60_000) };
}

function takenBy(appointment: FhirAppointment, slots: readonly FhirSlot[], directory: CareUnitDirectory): string[] {
  const time = timeOf(appointment, directory);
  if (!time) return [];
  const isThen = (slot: FhirSlot) => {
    const range = slotTime(slot);
    return range !== null && overlaps(time, range);
  };
  const named = slots.filter((slot) => slotsOf(appointment).includes(referenceTo(slot)) && isThen(slot));
  if (named.length > 0) return named.map(referenceTo);
  const resources = directory.resourcesOf(appointment);
  const isTheirs = (slot: FhirSlot) => resources.includes(directory.offerOf(slot)?.resourceId ?? '');
  return slots.filter((slot) => isTheirs(slot) && isThen(slot)).map(referenceTo);
}
