import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  type AppointmentWrite,
  ConnectorError,
} from '@crossward/connector-kit';
import {
  assertChangeable,
  isMove,
  isSameTime,
  oneChange,
  required,
  requireResource,
  requireService,
  timeTaken,
} from '@crossward/connector-kit/rest';
import {
  appointment,
  appointmentKind,
  type EhrAppointment,
  readAppointments,
  searchPath,
  takesSlot,
} from './appointment-reads.ts';
import type { At } from './clinic.ts';
import { listAll, readAll, readable } from './records.ts';
import { type EhrSlot, freeSlotsOf } from './time-slots.ts';
import { datesOf } from './times.ts';

/**
 * The EHR does not know a write that arrives again. Each write gives its operation id as the reference, by which the EHR finds the
 * appointment again.
 */
export async function changeAppointments(at: At, write: AppointmentWrite): Promise<readonly Appointment[]> {
  const { changes, operationId, isFirst = false } = write;
  const earlier = () => (isFirst ? null : findOperation(at, operationId));
  const known = await earlier();
  if (known) return known;
  const sent = { ...at.unit, reference: operationId };
  try {
    return await oneChange(at, changes, {
      create: (_, change) => book(at, change, sent),
      update: (_, change) => update(at, change, sent),
      cancel: (_, change) => cancel(at, change, sent),
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
export async function findOperation(at: At, operationId: string): Promise<readonly Appointment[] | null> {
  const search = { ...at.unit, reference: operationId };
  const found = await readAll(at, searchPath, search, appointmentKind);
  const [first] = found.toSorted((a, b) => a.place - b.place);
  if (!first) return null;
  if (first.references[0] !== operationId) return [appointment(at, first)];
  const kept = await firstInSlot(at, first);
  return kept ? [appointment(at, kept)] : null;
}

/** What each write sends along. */
interface Sent {
  readonly department: string;
  readonly reference: string;
}

async function book(at: At, change: AppointmentCreation, sent: Sent): Promise<Appointment> {
  const { resourceId, healthcareServiceId, patientId, start, end, comment } = change;
  await requireResource(at.lists, resourceId);
  await requireService(at.lists, healthcareServiceId);
  const slot = await slotAt(at, { resourceId, start, end, healthcareServiceId });
  const body = { ...sent, patient: patientId, service: healthcareServiceId, note: comment };
  const made = await written(at, `/slots/${slot.id}/book`, body);
  const kept = await firstInSlot(at, made);
  if (kept) return appointment(at, kept);
  throw timeTaken({ nothingChanged: true });
}

/** Only what is to change is sent, so nothing is overwritten that others change meanwhile. */
async function update(at: At, change: AppointmentUpdate, sent: Sent): Promise<Appointment> {
  const { appointmentId, resourceId, time, comment } = change;
  const [found] = await readAppointments(at, [appointmentId]);
  const before = required(found, 'appointment_not_found');
  assertChangeable(appointment(at, before), isMove(change));
  const target = {
    resourceId: resourceId ?? before.practitioner,
    healthcareServiceId: before.service,
    ...(time ?? { start: new Date(before.start), end: new Date(before.end) }),
  };
  await requireResource(at.lists, target.resourceId);
  const slot = isMove(change) ? await slotAt(at, target, [before.id]) : undefined;
  const body = { ...sent, slot: slot?.id, note: comment };
  return appointment(at, await written(at, `/appointments/${before.id}/change`, body));
}

async function cancel(at: At, { appointmentId, comment }: AppointmentCancellation, sent: Sent): Promise<Appointment> {
  const path = `/appointments/${encodeURIComponent(appointmentId)}/cancel`;
  return appointment(at, await written(at, path, { ...sent, note: comment }));
}

async function written({ client }: At, path: string, body: object): Promise<EhrAppointment> {
  const [entry] = await client.write(path, body);
  return readable(appointmentKind, entry);
}

interface Place {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

async function slotAt(
  at: At,
  { resourceId, healthcareServiceId, start, end }: Place,
  freeing: readonly string[] = [],
): Promise<EhrSlot> {
  const slots = start > at.now() ? await freeSlotsOf(at, { start, end }, freeing) : [];
  const found = slots.find(
    (it) =>
      it.practitioner === resourceId &&
      it.services.includes(healthcareServiceId) &&
      isSameTime({ start: new Date(it.start), end: new Date(it.end) }, { start, end }),
  );
  if (found) return found;
  throw timeTaken();
}

/**
 * The EHR looks whether a slot is free, and books a moment later, so two callers can both get it. The first of them keeps it, and the
 * others withdraw. `null`: the slot is somebody else's. A booking that was made twice is that of the first time.
 */
async function firstInSlot(at: At, made: EhrAppointment): Promise<EhrAppointment | null> {
  const days = datesOf(at.careUnit, { start: new Date(made.start), end: new Date(made.end) });
  const { department } = at.unit;
  const there = await listAll(at, searchPath, { department, ...days }, appointmentKind);
  const [first = made] = there
    .filter((it) => it.slot === made.slot && takesSlot(it) && it.place < made.place)
    .sort((a, b) => a.place - b.place);
  if (first.id === made.id || !takesSlot(made)) return made;
  await at.client.write(`/appointments/${made.id}/delete`, { department });
  return first.references[0] === made.references[0] ? first : null;
}
