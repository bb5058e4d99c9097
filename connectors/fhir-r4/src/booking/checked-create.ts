import { ConnectorError } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, type FhirSlot, localReference, referenceTo } from '../fhir.ts';
import { patientIdOf, slotsOf, standingOf } from '../mappers/appointment.ts';
import { findOperationResources } from '../operation-results.ts';
import { changeAppointment, writeAppointment } from './appointment-change.ts';
import { afterWriting, isUnknown, LostRace, timeTaken, unknownOutcome } from './lost-race.ts';
import type { Plan, PlannedAppointment } from './plan.ts';

/**
 * For a server that looks after its slots itself: an Appointment that names its slot is created, and refused when the
 * slot is taken. Oracle Health takes exactly one slot and one patient who has accepted:
 * https://fhir.cerner.com/millennium/r4/base/workflow/appointment
 */
export async function runCheckedWrite(ehr: FhirConnection, plan: Plan): Promise<readonly FhirAppointment[]> {
  const [planned] = plan.appointments;
  if (!planned) return [];
  const { before, after } = planned;
  // What is cancelled already stays as it is.
  if (before && after === before) return [before];
  if (before) return [await settled(ehr, plan, () => changeAppointment(ehr, before, after))];
  const isMinimal = ehr.settings.booking?.minimal_create === true;
  if (isMinimal && slotsOf(after).length !== 1) {
    throw new ConnectorError('time_slot_unavailable', 'This EHR books one time slot at a time');
  }
  const wanted = isMinimal ? minimal(after) : after;
  return [await settled(ehr, plan, () => writeAppointment(ehr, { ...planned, after: wanted }))];
}

/** Nothing that the server takes from the slot. */
function minimal(appointment: FhirAppointment): FhirAppointment {
  const { resourceType, status, identifier, slot, comment, description, patientInstruction, participant } = appointment;
  const patients = participant?.filter(({ actor }) => localReference(actor)?.startsWith('Patient/'));
  const optional = { identifier, comment, description, patientInstruction };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return {
    resourceType,
    ...(status ? { status } : {}),
    ...given,
    ...(slot ? { slot } : {}),
    participant: patients ?? [],
  };
}

/** What a refusal means is seen from what is open now, and what an answer that did not come means from the appointments. */
export async function settled(
  ehr: FhirConnection,
  plan: Plan,
  work: () => Promise<FhirAppointment>,
  isOpen = () => areFree(ehr, plan),
): Promise<FhirAppointment> {
  try {
    return await work();
  } catch (error) {
    const [planned] = plan.appointments;
    if (isUnknown(error)) {
      const done = planned && (await afterWriting(() => readBack(ehr, planned)));
      if (done) return done;
      throw unknownOutcome(error);
    }
    const isRefusal = error instanceof LostRace || (error instanceof ConnectorError && error.kind === 'rejected');
    if (isRefusal && plan.slots.length > 0 && !(await isOpen())) throw timeTaken();
    // A conflict over a slot that still looks free is the server's last word, not ours to try for ever.
    if (error instanceof LostRace && planned?.before === null) throw timeTaken();
    throw error;
  }
}

async function areFree({ client }: FhirConnection, plan: Plan): Promise<boolean> {
  const wanted = plan.slots.filter(({ after }) => after.status !== 'free').map(({ before }) => referenceTo(before));
  const slots = await client.readMany<FhirSlot>(wanted);
  return slots.length === wanted.length && slots.every(({ status }) => status === 'free');
}

/** By the operation id, or by patient and slot where the EHR keeps no ids of others: nobody else can have both. */
async function readBack(
  ehr: FhirConnection,
  { before, after, key }: PlannedAppointment,
): Promise<FhirAppointment | null> {
  if (before) {
    const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
    const isDone = current?.status === after.status && current?.meta?.versionId !== before.meta?.versionId;
    return isDone ? current : null;
  }
  if (ehr.operationLookup) return (await findOperationResources(ehr, key))[0] ?? null;
  const patientId = patientIdOf(after);
  const start = new Date(after.start ?? '').getTime();
  const candidates = await ehr.client.search<FhirAppointment>('Appointment', [
    ['patient', `Patient/${patientId}`],
    ['date', `ge${new Date(start).toISOString()}`],
    ['date', `lt${new Date(start + 1000).toISOString()}`],
  ]);
  const now = ehr.client.clock.now();
  const matches = candidates.filter(
    (it) =>
      standingOf(it, now).state === standingOf(after, now).state &&
      patientIdOf(it) === patientId &&
      slotsOf(it).join() === slotsOf(after).join(),
  );
  return matches.length === 1 ? (matches[0] ?? null) : null;
}
