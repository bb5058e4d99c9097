import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { compareKeys, oneChange } from '@crossward/connector-kit/rest';
import {
  appointment,
  appointmentKind,
  type EhrAppointment,
  readAppointments,
  searchPath,
} from './appointment-reads.ts';
import type { Clinic } from './clinic.ts';
import type { EhrClient } from './ehr-client.ts';
import { type EhrSlot, freeSlotsOf } from './time-slots.ts';
import { datesOf } from './times.ts';

/**
 * The EHR does not know a write that arrives again. Each write gives its operation id as the reference, by which the EHR finds the
 * appointment again.
 */
export async function changeAppointments(clinic: Clinic, write: AppointmentWrite): Promise<readonly Appointment[]> {
  const { careUnit, operationId, isFirst = false } = write;
  const earlier = () => (isFirst ? null : findOperation(clinic.client, careUnit, operationId));
  const known = await earlier();
  if (known) return known;
  const reference = { department: careUnit.id, reference: operationId };
  try {
    return await oneChange(write, {
      create: (_, change) => book(clinic, careUnit, change, reference),
      update: (_, change) => update(clinic, careUnit, change, reference),
      cancel: (_, change) => cancel(clinic.client, change, reference),
    });
  } catch (error) {
    // The same write, sent by another gateway, may have taken the time.
    const isTaken = error instanceof ConnectorError && error.kind === 'time_slot_unavailable';
    const made = isTaken ? await earlier() : null;
    if (made) return made;
    throw error;
  }
}

/** A booking that the EHR has made in a slot that was taken is withdrawn first. */
export async function findOperation(
  client: EhrClient,
  careUnit: CareUnit,
  operationId: string,
): Promise<readonly Appointment[] | null> {
  const search = { department: careUnit.id, reference: operationId };
  const found = await client.read(searchPath, search, appointmentKind);
  const [first] = found.toSorted((a, b) => a.place - b.place);
  if (!first) return null;
  if (first.references[0] !== operationId) return [appointment(first)];
  const kept = await firstInSlot(client, careUnit, first);
  return kept ? [appointment(kept)] : null;
}

/** What each write sends along. */
interface Sent {
  readonly department: string;
  readonly reference: string;
}

async function book(clinic: Clinic, careUnit: CareUnit, change: AppointmentCreation, sent: Sent): Promise<Appointment> {
  const { resourceId, healthcareServiceId, patientId, start, end, comment } = change;
  const { resources, services } = await clinic.lists.of(careUnit);
  if (!resources.some(({ id }) => id === resourceId))
    throw new ConnectorError('resource_not_found', 'No such resource');
  if (!services.some(({ id }) => id === healthcareServiceId)) {
    throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
  }
  const slot = await slotAt(clinic, careUnit, { resourceId, start, end, healthcareServiceId });
  const body = { ...sent, patient: patientId, service: healthcareServiceId, note: comment };
  const made = one(await clinic.client.write(`/slots/${slot.id}/book`, body, appointmentKind));
  const kept = await firstInSlot(clinic.client, careUnit, made);
  if (kept) return appointment(kept);
  throw new ConnectorError('time_slot_unavailable', 'Somebody else was first', { nothingChanged: true });
}

/** Only what is to change is sent, so nothing is overwritten that others change meanwhile. */
async function update(clinic: Clinic, careUnit: CareUnit, change: AppointmentUpdate, sent: Sent): Promise<Appointment> {
  const { appointmentId, resourceId, time, comment } = change;
  const [before] = await readAppointments(clinic.client, careUnit, [appointmentId]);
  if (!before) throw new ConnectorError('appointment_not_found', 'No such appointment');
  if (before.status === 'cancelled') throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
  const isMove = time !== undefined || resourceId !== undefined;
  if (isMove && before.status === 'arrived') throw new ConnectorError('appointment_started', 'The visit has started');
  const { resources } = await clinic.lists.of(careUnit);
  const target = {
    resourceId: resourceId ?? before.practitioner,
    healthcareServiceId: before.service,
    ...(time ?? { start: new Date(before.start), end: new Date(before.end) }),
  };
  if (!resources.some(({ id }) => id === target.resourceId))
    throw new ConnectorError('resource_not_found', 'No such resource');
  const slot = isMove ? await slotAt(clinic, careUnit, target, [before.id]) : undefined;
  const body = { ...sent, slot: slot?.id, note: comment };
  return appointment(one(await clinic.client.write(`/appointments/${before.id}/change`, body, appointmentKind)));
}

async function cancel(client: EhrClient, change: AppointmentCancellation, sent: Sent): Promise<Appointment> {
  const path = `/appointments/${encodeURIComponent(change.appointmentId)}/cancel`;
  return appointment(one(await client.write(path, { ...sent, note: change.comment }, appointmentKind)));
}

interface Place {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

async function slotAt(
  { client, now }: Clinic,
  careUnit: CareUnit,
  { resourceId, healthcareServiceId, start, end }: Place,
  freeing: readonly string[] = [],
): Promise<EhrSlot> {
  const slots = start > now() ? await freeSlotsOf(client, careUnit, { start, end }, freeing) : [];
  const times = [start.getTime(), end.getTime()];
  const found = slots.find(
    (it) =>
      it.practitioner === resourceId &&
      it.services.includes(healthcareServiceId) &&
      compareKeys([Date.parse(it.start), Date.parse(it.end)], times) === 0,
  );
  if (found) return found;
  throw new ConnectorError('time_slot_unavailable', 'No free slot is exactly at this time');
}

/**
 * The EHR looks whether a slot is free, and books a moment later, so two callers can both get it. The first of them keeps it, and the
 * others withdraw. `null`: the slot is somebody else's. A booking that was made twice is that of the first time.
 */
async function firstInSlot(
  client: EhrClient,
  careUnit: CareUnit,
  made: EhrAppointment,
): Promise<EhrAppointment | null> {
  const days = datesOf(careUnit, { start: new Date(made.start), end: new Date(made.end) });
  const there = await client.list(searchPath, { department: careUnit.id, ...days }, appointmentKind);
  const [first = made] = there
    .filter(({ slot, status, place }) => slot === made.slot && status !== 'cancelled' && place < made.place)
    .sort((a, b) => a.place - b.place);
  if (first.id === made.id || made.status === 'cancelled') return made;
  await client.write(`/appointments/${made.id}/delete`, { department: careUnit.id }, appointmentKind);
  return first.references[0] === made.references[0] ? first : null;
}

function one(entries: readonly EhrAppointment[]): EhrAppointment {
  const [entry] = entries;
  if (entry) return entry;
  throw new ConnectorError('rejected', 'The EHR sent no appointment', { fault: true });
}
