import { ConnectorError } from '@crossward/connector-kit';
import { searchAppointments } from '../../appointments/searches.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { commentIn, patientIdOf, slotsOf, standingOf } from '../../mappers/appointment.ts';
import { readInstant } from '../../mappers/instants.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { slotsAt } from '../../slots/search.ts';
import type { ChangeOnSlots } from '../changes/single.ts';
import type { PlannedAppointment } from './appointment.ts';
import { findOperationResources } from './operation-results.ts';
import { afterWriting, isUnknown, LostRace, timeTaken, unknownOutcome } from './outcomes.ts';

/**
 * Sends a write that the server checks itself, and determines why it failed. After a rejection it checks whether the
 * time is still free; after a time-out it looks for the appointment.
 *
 * @param isOpen whether the time is still free. `undefined`: the write takes no time.
 */
export async function settled(
  ehr: BookingConnection,
  planned: PlannedAppointment,
  work: () => Promise<FhirAppointment>,
  isOpen: (() => Promise<boolean>) | undefined,
): Promise<FhirAppointment> {
  try {
    return await work();
  } catch (error) {
    if (isUnknown(error)) {
      const done = await afterWriting(() => readBack(ehr, planned));
      if (done) return done;
      throw unknownOutcome(error);
    }
    const isRejection = error instanceof LostRace || (error instanceof ConnectorError && error.kind === 'rejected');
    // Somebody else may have changed it, which a server without versions says in its own way.
    if (isRejection && planned.before && ehr.settings.booking?.bodies && (await hasChanged(ehr, planned.before))) {
      throw new LostRace();
    }
    if (isRejection && isOpen && !(await isOpen())) throw timeTaken();
    // The server reports a conflict about a time that is still listed as free. Retries could go on for ever.
    if (error instanceof LostRace && planned.before === null) throw timeTaken();
    throw error;
  }
}

async function hasChanged({ client }: BookingConnection, before: FhirAppointment): Promise<boolean> {
  return JSON.stringify(await client.read<FhirAppointment>(referenceTo(before))) !== JSON.stringify(before);
}

/** Whether an Appointment is as a change wanted it. Where it has a version, that must have changed too. */
function isDone(
  { dialect }: BookingConnection,
  current: FhirAppointment,
  { before, after }: { readonly before: FhirAppointment; readonly after: FhirAppointment },
): boolean {
  const place = (it: FhirAppointment) => [readInstant(it.start)?.getTime(), slotsOf(it).join(), commentIn(it, dialect)];
  const changesStatus = before.status !== after.status;
  const shown = (it: FhirAppointment) => [it.status, ...(changesStatus ? [] : place(it))];
  const hasNewVersion = before.meta?.versionId === undefined || current.meta?.versionId !== before.meta.versionId;
  return hasNewVersion && JSON.stringify(shown(current)) === JSON.stringify(shown(after));
}

/** Whether the Slots that a change takes are still free. Where Slots are found by service, none can be read by its id. */
export async function areFree(
  ehr: BookingConnection,
  { directory, needed, before, takes }: ChangeOnSlots,
): Promise<boolean> {
  const now =
    ehr.settings.slots?.by_service && needed
      ? await slotsAt(ehr, directory, needed, before?.id)
      : await ehr.client.readMany<FhirSlot>(takes.map(referenceTo));
  return takes.every(({ id }) => now.find((it) => it.id === id)?.status === 'free');
}

/** Looks by operation id. If the server does not keep it, by patient and slot, which no other appointment can have. */
async function readBack(
  ehr: BookingConnection,
  { before, after, key }: PlannedAppointment,
): Promise<FhirAppointment | null> {
  if (before) {
    const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
    return current && isDone(ehr, current, { before, after }) ? current : null;
  }
  if (ehr.operationLookup) return (await findOperationResources(ehr, key))[0] ?? null;
  const patientId = patientIdOf(after);
  const start = new Date(after.start ?? '').getTime();
  const wanted = {
    patients: [`Patient/${patientId}`],
    // Some servers are sent a Slot, and take the start from it.
    ...(Number.isNaN(start) ? {} : { from: new Date(start), before: new Date(start + 1000) }),
    others: [],
  };
  const found = await searchAppointments(ehr.client.habits, wanted, (parameters) =>
    ehr.client.search<FhirAppointment>('Appointment', parameters),
  );
  const candidates = found.flat();
  const now = ehr.client.clock.now();
  const matches = candidates.filter(
    (it) =>
      standingOf(it, now).state === standingOf(after, now).state &&
      patientIdOf(it) === patientId &&
      slotsOf(it).join() === slotsOf(after).join(),
  );
  return matches.length === 1 ? (matches[0] ?? null) : null;
}
