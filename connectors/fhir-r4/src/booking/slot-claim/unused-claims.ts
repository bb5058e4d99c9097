import type { AppointmentChange } from '@crossward/connector-kit';
import { readAppointments } from '../../appointments/reads.ts';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { appointmentTime } from '../../mappers/appointment.ts';
import { readGroupId } from '../../mappers/group.ts';
import { readInstant } from '../../mappers/instants.ts';
import { claimOf, freedSlot, isClaimedBy } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { slotsAt } from '../../slots/search.ts';
import { slotUsers } from '../../slots/slot-users.ts';
import type { WantedTime } from '../changes/drafts.ts';
import { existingIds } from '../changes/read.ts';
import { creationKey } from '../operation-ids.ts';
import { versionOf } from '../write/appointment.ts';
import { LostRace, unknownOutcome } from '../write/outcomes.ts';
import { claimMilliseconds, put } from './claim.ts';

/** A write that left no appointment. */
interface Undone {
  readonly operationId: string;
  readonly changes: readonly AppointmentChange[];
}

/**
 * Frees the Slots that a write has claimed for a new time, if it made no appointment. Each is freed when its claim has
 * ended, because a delayed request of the write may need it until then.
 *
 * @throws ConnectorError `outcome_unknown` while a claim has not ended, or another one if a request fails
 */
export async function freeUnusedClaims(ehr: BookingConnection, directory: CareUnitDirectory, undone: Undone) {
  const appointments = await readAppointments(ehr, existingIds(undone));
  const claimed = await Promise.all(
    undone.changes.map(async (change, index) => {
      const wanted = wantedTime(change, { directory, appointments });
      if (!wanted) return [];
      const owner =
        change.kind === 'create'
          ? creationKey(undone.operationId, index, undone.changes.length)
          : `Appointment/${readGroupId(change.appointmentId).id}`;
      return (await slotsAt(ehr, directory, wanted)).filter((slot) => isClaimedBy(slot, owner));
    }),
  );
  const users = await slotUsers(ehr, directory, claimed.flat(), new Set());
  const left = claimed.flat().filter((slot) => !users.has(referenceTo(slot)));
  const now = ehr.client.clock.now();
  for (const slot of left.filter((it) => hasEnded(it, now))) await free(ehr, slot);
  if (!left.every((it) => hasEnded(it, now))) throw unknownOutcome();
}

/** The time that a change books. `undefined`: none, or it is not known any more. */
function wantedTime(
  change: AppointmentChange,
  {
    directory,
    appointments,
  }: { readonly directory: CareUnitDirectory; readonly appointments: readonly FhirAppointment[] },
): WantedTime | undefined {
  if (change.kind === 'create') return { ...change, serviceId: change.healthcareServiceId };
  if (change.kind !== 'update') return undefined;
  if (change.time === undefined && change.resourceId === undefined) return undefined;
  const current = appointments.find(({ id }) => id === readGroupId(change.appointmentId).id);
  const time = change.time ?? (current && appointmentTime(current));
  const resourceId = change.resourceId ?? (current && directory.resourceOf(current));
  return time && resourceId !== undefined ? { resourceId, serviceId: null, ...time } : undefined;
}

/** The claim of a hold names the end of the hold, but a request of its write is not delayed for longer than others. */
function hasEnded(slot: FhirSlot, now: Date): boolean {
  const until = claimOf(slot)?.until ?? null;
  const written = readInstant(slot.meta?.lastUpdated) ?? now;
  return (until !== null && until <= now) || now.getTime() - written.getTime() >= claimMilliseconds;
}

async function free(ehr: BookingConnection, slot: FhirSlot): Promise<void> {
  try {
    await put(ehr, freedSlot(slot), versionOf(slot));
  } catch (error) {
    // The next look-up sees who has it.
    throw error instanceof LostRace ? unknownOutcome() : error;
  }
}
