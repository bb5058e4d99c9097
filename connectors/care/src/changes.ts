import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  assertComplete,
  type CompleteAppointment,
  ConnectorError,
  type InterruptedChanges,
  inTurns,
  overlaps,
  type Resource,
} from '@crossward/connector-kit';
import {
  assertChangeable,
  assertNotStarted,
  cameTooLate,
  dateIn,
  instantIn,
  isMove,
  isSameTime,
  required,
  requireResource,
  requireService,
  standsAlone,
  timeTaken,
} from '@crossward/connector-kit/rest';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { asBooking, bookingPath, findBooking, takesPlace, timeOf, toAppointment } from './appointments.ts';
import type { At } from './ehr.ts';
import type { CareBooking } from './records.ts';
import { isAbsence } from './refusals.ts';
import { isId } from './settings.ts';
import { bookingsOf, type FreeSlot, freeSlotsOf } from './time-slots.ts';

/** How far CARE's clock may be behind. */
const clockSkewMilliseconds = 60_000;

type Place = Pick<CompleteAppointment, 'resourceId' | 'start' | 'end'>;

/** CARE itself books one place twice when callers come together, so bookings of one resource take turns over all gateways. */
function inTurnOf<Result>({ inTurn }: At, ids: readonly string[], run: () => Promise<Result>): Promise<Result> {
  const keys = ids.map((id) => `resource ${id}`);
  return inTurns(inTurn, keys, run);
}

export async function book(at: At, creation: AppointmentCreation): Promise<Appointment> {
  const { patientId, resourceId, healthcareServiceId, comment } = creation;
  const resource = await requireResource(at.lists, resourceId);
  await requireService(at.lists, healthcareServiceId);
  if (!isId(patientId)) throw new ConnectorError('patient_not_found', 'No such patient');
  const made = await inTurnOf(at, [resourceId], async () => {
    const slot = await freeSlotAt(at, resource, creation, healthcareServiceId);
    const path = `facility/${at.unit.facility}/slots/${slot.id}/create_appointment/`;
    const body = { patient: patientId, note: comment ?? '' };
    return asBooking(at, await at.client.write(path, body).catch(takenIfAbsent));
  });
  if (await standsAlone(made, lookAt(at, resource, made))) return toAppointment(at, made);
  await withdraw(at, made);
  throw timeTaken({ nothingChanged: true });
}

/** The EHR cancels the former booking and makes a new one, in one step. */
async function move(at: At, update: AppointmentUpdate, before: CareBooking): Promise<Appointment> {
  const former = assertComplete(toAppointment(at, before));
  const target = { ...former, ...update.time, resourceId: update.resourceId ?? former.resourceId };
  const resource = await requireResource(at.lists, target.resourceId);
  let sent = '';
  const [now, made] = await inTurnOf(at, [former.resourceId, target.resourceId], async () => {
    const slot = await freeSlotAt(at, resource, target, former.healthcareServiceId, [former.id]);
    return together(at, former.id, (url, { note }) => {
      sent = (update.comment === undefined ? note : update.comment) ?? '';
      return { method: 'POST', url: `${url}reschedule/`, body: { new_slot: slot.id, new_booking_note: sent } };
    }).catch(takenIfAbsent);
  });
  const moved = asBooking(at, made);
  // CARE does not look at the state of what it moves.
  if (toAppointment(at, now).state === 'cancelled') {
    await withdraw(at, moved);
    throw cancelledMeanwhile();
  }
  if (!(await standsAlone(moved, lookAt(at, resource, moved)))) return moveBack(at, now, moved);
  const isKept = update.comment !== undefined || sent === (now.note ?? '');
  return isKept ? toAppointment(at, moved) : comment(at, moved.id, now.note ?? '');
}

/** A PUT brings the former booking back, under its id. CARE does not count its place again, and nothing repairs the count. */
async function moveBack(at: At, former: CareBooking, moved: CareBooking): Promise<never> {
  await withdraw(at, moved);
  const { resourceId } = assertComplete(toAppointment(at, former));
  const { read, places } = lookAt(at, await requireResource(at.lists, resourceId), former);
  await inTurnOf(at, [resourceId], async () => {
    const there = await read();
    if (there.length >= places) throw new ConnectorError('outcome_unknown', 'The former time is taken, too');
    const { id, status, note } = former;
    await inOneTransaction(at, [put(bookingUrl(at, id), { status, note: note ?? '' })]);
  });
  throw timeTaken({ nothingChanged: true });
}

/** A PUT writes the whole booking, so it would bring back one that staff have cancelled, or send away who has arrived. */
async function comment(at: At, id: string, note: string): Promise<Appointment> {
  let sent = '';
  const [now, changed] = await together(at, id, (url, { status }) => {
    sent = status;
    return put(url, { status, note });
  });
  if (!takesPlace(now)) {
    await at.client.write(`${bookingPath(at, id)}cancel/`, { reason: now.status, note: now.note ?? '' });
    throw cancelledMeanwhile();
  }
  if (now.status === sent) return toAppointment(at, asBooking(at, changed, id));
  const [, again] = await together(at, id, (url) => put(url, { status: now.status, note }));
  return toAppointment(at, asBooking(at, again, id));
}

function cancelledMeanwhile(): ConnectorError {
  const options = { nothingChanged: true };
  return new ConnectorError('appointment_cancelled', 'Somebody has cancelled the appointment', options);
}

export async function update(at: At, change: AppointmentUpdate): Promise<Appointment> {
  const before = await mustFind(at, change.appointmentId);
  const appointment = toAppointment(at, before);
  assertChangeable(appointment, isMove(change));
  if (isMove(change)) return move(at, change, before);
  if (change.comment === undefined) return appointment;
  return comment(at, before.id, change.comment ?? '');
}

/** Cancelling twice changes nothing in CARE but the reason. */
export async function cancel(at: At, change: AppointmentCancellation): Promise<Appointment> {
  const before = await mustFind(at, change.appointmentId);
  const appointment = toAppointment(at, before);
  if (appointment.state === 'cancelled') return appointment;
  assertNotStarted(appointment);
  const body = { reason: 'cancelled', ...(change.comment ? { note: change.comment } : {}) };
  const cancelled = await at.client.write(`${bookingPath(at, before.id)}cancel/`, body);
  return toAppointment(at, asBooking(at, cancelled, before.id));
}

async function mustFind(at: At, id: string): Promise<CareBooking> {
  return required(await findBooking(at, id), 'appointment_not_found');
}

/** CARE removes slots from a schedule that was changed. */
function takenIfAbsent(error: unknown): never {
  throw isAbsence(error) ? timeTaken({ cause: error }) : error;
}

async function freeSlotAt(
  at: At,
  resource: Resource,
  { start, end }: Place,
  service: string,
  freeing: readonly string[] = [],
): Promise<FreeSlot> {
  if (start <= at.now()) throw timeTaken();
  const free = await freeSlotsOf(at, [resource], dateIn(at.careUnit.timeZone, start), freeing);
  const slot = free.find((it) => it.healthcareServiceId === service && isSameTime(it, { start, end }));
  if (!slot) throw timeTaken();
  return slot;
}

const batchSchema = Type.Object({
  results: Type.Array(Type.Object({ reference_id: Type.String(), data: Type.Unknown() })),
});

interface BatchRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly body: object;
}
const put = (url: string, body: object): BatchRequest => ({ method: 'PUT', url, body });

function bookingUrl(at: At, id: string): string {
  return `/api/v1/${bookingPath(at, id)}`;
}

/** What each of the requests returns. All or nothing of them is done. */
async function inOneTransaction({ client }: At, batch: readonly BatchRequest[]): Promise<unknown[]> {
  const requests = batch.map((it, index) => ({ ...it, reference_id: String(index) }));
  const answer = await client.write('batch_requests/', { requests });
  const results = Check(batchSchema, answer) ? answer.results : [];
  return requests.map(({ reference_id }) => results.find((it) => it.reference_id === reference_id)?.data);
}

/** Reads a booking and changes it in one transaction, so that the state right before the change is known. */
async function together(
  at: At,
  id: string,
  change: (url: string, before: CareBooking) => BatchRequest,
): Promise<[CareBooking, unknown]> {
  const url = bookingUrl(at, id);
  const before = await mustFind(at, id);
  assertChangeable(toAppointment(at, before), false);
  const [read, changed] = await inOneTransaction(at, [{ method: 'GET', url, body: {} }, change(url, before)]);
  return [asBooking(at, read, id), changed];
}

/**
 * The other bookings that take a place at the time of one. Staff and patients do not take turns with the gateway. CARE's count of
 * the slot is one too low for good when a booking is withdrawn, so free times are counted by bookings, too.
 */
function lookAt(at: At, resource: Resource, booking: CareBooking) {
  const { start, end } = assertComplete(toAppointment(at, booking));
  return {
    async read() {
      const there = await bookingsOf(at, [resource], dateIn(at.careUnit.timeZone, start));
      return there.filter((it) => it.id !== booking.id && overlaps(timeOf(it), { start, end }));
    },
    keyOf: (it: CareBooking) => [instantIn(it.created_date)?.getTime() ?? 0, it.id],
    places: booking.token_slot.availability?.tokens_per_slot ?? 1,
  };
}

/**
 * After an interruption: the gateway that has booked may be gone, and CARE may have booked late, when another booking had the
 * place. So whoever finds such a booking looks whether it stands alone, and takes it back if it does not. What CARE has not made
 * yet, it can still make.
 */
export async function settleChanges(at: At, { made, notSeen, since }: InterruptedChanges): Promise<boolean> {
  for (const change of made) {
    if (change.kind === 'create') {
      const second = await secondAt(at, change.patientId, change, since);
      if (second) await withdraw(at, second);
    } else if (change.kind === 'update') await settleMove(at, change, since);
  }
  return notSeen.length === 0;
}

async function settleMove(at: At, change: AppointmentUpdate, since: Date): Promise<void> {
  const before = await findBooking(at, change.appointmentId);
  // A comment, or somebody has changed it since.
  if (before?.status !== 'rescheduled') return;
  const former = assertComplete(toAppointment(at, before));
  const place = { ...former, ...change.time, resourceId: change.resourceId ?? former.resourceId };
  const second = await secondAt(at, former.patientId, place, since);
  if (!second) return;
  // Better two patients at one time than one with none.
  const { read, places } = lookAt(at, await requireResource(at.lists, former.resourceId), before);
  if ((await read()).length >= places) return;
  await moveBack(at, { ...before, status: 'booked' }, second).catch((error: unknown) => {
    // That is what the move back says to a caller.
    if (!(error instanceof ConnectorError) || error.kind !== 'time_slot_unavailable') throw error;
  });
}

/** The one booking of a patient at a place, made since a time, if it has no room there. */
async function secondAt(
  at: At,
  patientId: string,
  { resourceId, start }: Place,
  since: Date,
): Promise<CareBooking | undefined> {
  const resource = await requireResource(at.lists, resourceId);
  const there = await bookingsOf(at, [resource], dateIn(at.careUnit.timeZone, start));
  const [only, another] = there.filter(
    (it) => it.patient.id === patientId && timeOf(it).start.getTime() === start.getTime(),
  );
  if (!only || another) return undefined;
  const isOlder = (instantIn(only.created_date)?.getTime() ?? 0) < since.getTime() - clockSkewMilliseconds;
  if (isOlder || start <= at.now() || toAppointment(at, only).hasStarted) return undefined;
  return (await cameTooLate(only, lookAt(at, resource, only))) ? only : undefined;
}

async function withdraw(at: At, { id }: CareBooking): Promise<void> {
  await at.client.write(`${bookingPath(at, id)}cancel/`, { reason: 'entered_in_error' });
}
