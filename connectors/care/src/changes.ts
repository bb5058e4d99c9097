import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  assertComplete,
  type CareUnit,
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
  requireResource,
  requireService,
  standsAlone,
  timeTaken,
} from '@crossward/connector-kit/rest';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { asBooking, bookingPath, findBooking, takesPlace, toAppointment } from './appointments.ts';
import type { Ehr } from './ehr.ts';
import type { CareBooking } from './records.ts';
import { isAbsence } from './refusals.ts';
import { isId } from './settings.ts';
import { bookingsOf, type FreeSlot, freeSlotsOf, timeOf } from './time-slots.ts';

/** How far CARE's clock may be behind. */
const clockSkewMilliseconds = 60_000;

type Place = Pick<CompleteAppointment, 'resourceId' | 'start' | 'end'>;

/** CARE itself books one place twice when callers come together, so bookings of one resource take turns over all gateways. */
function inTurnOf<Result>({ inTurn }: Ehr, ids: readonly string[], run: () => Promise<Result>): Promise<Result> {
  const keys = ids.map((id) => `resource ${id}`);
  return inTurns(inTurn, keys, run);
}

export async function book(ehr: Ehr, careUnit: CareUnit, creation: AppointmentCreation): Promise<Appointment> {
  const { patientId, resourceId, healthcareServiceId, comment } = creation;
  const resource = await requireResource(ehr.lists, careUnit, resourceId);
  await requireService(ehr.lists, careUnit, healthcareServiceId);
  if (!isId(patientId)) throw new ConnectorError('patient_not_found', 'No such patient');
  const made = await inTurnOf(ehr, [resourceId], async () => {
    const slot = await freeSlotAt(ehr, careUnit, resource, creation, healthcareServiceId);
    const path = `facility/${ehr.unitOf(careUnit).facility}/slots/${slot.id}/create_appointment/`;
    const body = { patient: patientId, note: comment ?? '' };
    return asBooking(ehr, await ehr.client.write(path, body).catch(takenIfAbsent));
  });
  if (await isAlone(ehr, careUnit, resource, made)) return toAppointment(ehr, careUnit, made);
  await withdraw(ehr, careUnit, made);
  throw timeTaken({ nothingChanged: true });
}

/** The EHR cancels the former booking and makes a new one, in one step. */
async function move(
  ehr: Ehr,
  careUnit: CareUnit,
  update: AppointmentUpdate,
  before: CareBooking,
): Promise<Appointment> {
  const former = assertComplete(toAppointment(ehr, careUnit, before));
  const target = { ...former, ...update.time, resourceId: update.resourceId ?? former.resourceId };
  const resource = await requireResource(ehr.lists, careUnit, target.resourceId);
  let sent = '';
  const [now, made] = await inTurnOf(ehr, [former.resourceId, target.resourceId], async () => {
    const slot = await freeSlotAt(ehr, careUnit, resource, target, former.healthcareServiceId, [former.id]);
    return together(ehr, careUnit, former.id, (url, { note }) => {
      sent = (update.comment === undefined ? note : update.comment) ?? '';
      return { method: 'POST', url: `${url}reschedule/`, body: { new_slot: slot.id, new_booking_note: sent } };
    }).catch(takenIfAbsent);
  });
  const moved = asBooking(ehr, made);
  // CARE does not look at the state of what it moves.
  if (toAppointment(ehr, careUnit, now).state === 'cancelled') {
    await withdraw(ehr, careUnit, moved);
    throw cancelledMeanwhile();
  }
  if (!(await isAlone(ehr, careUnit, resource, moved))) return moveBack(ehr, careUnit, now, moved);
  const isKept = update.comment !== undefined || sent === (now.note ?? '');
  return isKept ? toAppointment(ehr, careUnit, moved) : comment(ehr, careUnit, moved.id, now.note ?? '');
}

/** A PUT brings the former booking back, under its id. CARE does not count its place again, and nothing repairs the count. */
async function moveBack(ehr: Ehr, careUnit: CareUnit, former: CareBooking, moved: CareBooking): Promise<never> {
  await withdraw(ehr, careUnit, moved);
  const { resourceId } = assertComplete(toAppointment(ehr, careUnit, former));
  const resource = await requireResource(ehr.lists, careUnit, resourceId);
  await inTurnOf(ehr, [resourceId], async () => {
    const there = await othersAt(ehr, careUnit, resource, former);
    if (there.length >= placesOf(former)) throw new ConnectorError('outcome_unknown', 'The former time is taken, too');
    const { id, status, note } = former;
    await inOneTransaction(ehr, [put(bookingUrl(ehr, careUnit, id), { status, note: note ?? '' })]);
  });
  throw timeTaken({ nothingChanged: true });
}

/** A PUT writes the whole booking, so it would bring back one that staff have cancelled, or send away who has arrived. */
async function comment(ehr: Ehr, careUnit: CareUnit, id: string, note: string): Promise<Appointment> {
  let sent = '';
  const [now, changed] = await together(ehr, careUnit, id, (url, { status }) => {
    sent = status;
    return put(url, { status, note });
  });
  if (!takesPlace(now)) {
    const again = { reason: now.status, note: now.note ?? '' };
    await ehr.client.write(`${bookingPath(ehr, careUnit, id)}cancel/`, again);
    throw cancelledMeanwhile();
  }
  if (now.status === sent) return toAppointment(ehr, careUnit, asBooking(ehr, changed, id));
  const [, again] = await together(ehr, careUnit, id, (url) => put(url, { status: now.status, note }));
  return toAppointment(ehr, careUnit, asBooking(ehr, again, id));
}

function cancelledMeanwhile(): ConnectorError {
  return new ConnectorError('appointment_cancelled', 'Somebody has cancelled the appointment', {
    nothingChanged: true,
  });
}

export async function update(ehr: Ehr, careUnit: CareUnit, change: AppointmentUpdate): Promise<Appointment> {
  const before = await mustFind(ehr, careUnit, change.appointmentId);
  const appointment = toAppointment(ehr, careUnit, before);
  assertChangeable(appointment, isMove(change));
  if (isMove(change)) return move(ehr, careUnit, change, before);
  if (change.comment === undefined) return appointment;
  return comment(ehr, careUnit, before.id, change.comment ?? '');
}

/** Cancelling twice changes nothing in CARE but the reason. */
export async function cancel(ehr: Ehr, careUnit: CareUnit, change: AppointmentCancellation): Promise<Appointment> {
  const before = await mustFind(ehr, careUnit, change.appointmentId);
  const appointment = toAppointment(ehr, careUnit, before);
  if (appointment.state === 'cancelled') return appointment;
  assertNotStarted(appointment);
  const body = { reason: 'cancelled', ...(change.comment ? { note: change.comment } : {}) };
  const cancelled = await ehr.client.write(`${bookingPath(ehr, careUnit, before.id)}cancel/`, body);
  return toAppointment(ehr, careUnit, asBooking(ehr, cancelled, before.id));
}

async function mustFind(ehr: Ehr, careUnit: CareUnit, id: string): Promise<CareBooking> {
  const found = await findBooking(ehr, careUnit, id);
  if (found) return found;
  throw new ConnectorError('appointment_not_found', 'No such appointment');
}

/** CARE removes slots from a schedule that was changed. */
function takenIfAbsent(error: unknown): never {
  throw isAbsence(error) ? timeTaken({ cause: error }) : error;
}

async function freeSlotAt(
  ehr: Ehr,
  careUnit: CareUnit,
  resource: Resource,
  { start, end }: Place,
  service: string,
  freeing: readonly string[] = [],
): Promise<FreeSlot> {
  if (start <= ehr.now()) throw timeTaken();
  const free = await freeSlotsOf(ehr, careUnit, [resource], dateIn(careUnit.timeZone, start), freeing);
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

function bookingUrl(ehr: Ehr, careUnit: CareUnit, id: string): string {
  return `/api/v1/${bookingPath(ehr, careUnit, id)}`;
}

/** What each of the requests returns. All or nothing of them is done. */
async function inOneTransaction(ehr: Ehr, batch: readonly BatchRequest[]): Promise<unknown[]> {
  const requests = batch.map((it, index) => ({ ...it, reference_id: String(index) }));
  const answer = await ehr.client.write('batch_requests/', { requests });
  const results = Check(batchSchema, answer) ? answer.results : [];
  return requests.map(({ reference_id }) => results.find((it) => it.reference_id === reference_id)?.data);
}

/** Reads a booking and changes it in one transaction, so that the state right before the change is known. */
async function together(
  ehr: Ehr,
  careUnit: CareUnit,
  id: string,
  change: (url: string, before: CareBooking) => BatchRequest,
): Promise<[CareBooking, unknown]> {
  const url = bookingUrl(ehr, careUnit, id);
  const before = await mustFind(ehr, careUnit, id);
  assertChangeable(toAppointment(ehr, careUnit, before), false);
  const [read, changed] = await inOneTransaction(ehr, [{ method: 'GET', url, body: {} }, change(url, before)]);
  return [asBooking(ehr, read, id), changed];
}

/**
 * Staff and patients do not take turns with the gateway. CARE's count of the slot is one too low for good when a booking is
 * withdrawn, so free times are counted by bookings, too.
 */
function isAlone(ehr: Ehr, careUnit: CareUnit, resource: Resource, made: CareBooking): Promise<boolean> {
  return standsAlone(made, lookAt(ehr, careUnit, resource, made));
}

function lookAt(ehr: Ehr, careUnit: CareUnit, resource: Resource, made: CareBooking) {
  return {
    read: () => othersAt(ehr, careUnit, resource, made),
    keyOf: (it: CareBooking) => [instantIn(it.created_date)?.getTime() ?? 0, it.id],
    places: placesOf(made),
  };
}

/**
 * After an interruption: the gateway that has booked may be gone, and CARE may have booked late, when another booking had the
 * place. So whoever finds such a booking looks whether it stands alone, and takes it back if it does not. What CARE has not made
 * yet, it can still make.
 */
export async function settleChanges(ehr: Ehr, changes: InterruptedChanges): Promise<boolean> {
  const { careUnit, made, notSeen, since } = changes;
  for (const change of made) {
    if (change.kind === 'create') {
      const second = await secondAt(ehr, careUnit, change.patientId, change, since);
      if (second) await withdraw(ehr, careUnit, second);
    } else if (change.kind === 'update') await settleMove(ehr, careUnit, change, since);
  }
  return notSeen.length === 0;
}

async function settleMove(ehr: Ehr, careUnit: CareUnit, change: AppointmentUpdate, since: Date): Promise<void> {
  const before = await findBooking(ehr, careUnit, change.appointmentId);
  // A comment, or somebody has changed it since.
  if (before?.status !== 'rescheduled') return;
  const former = assertComplete(toAppointment(ehr, careUnit, before));
  const place = { ...former, ...change.time, resourceId: change.resourceId ?? former.resourceId };
  const second = await secondAt(ehr, careUnit, former.patientId, place, since);
  if (!second) return;
  // Better two patients at one time than one with none.
  const formerResource = await requireResource(ehr.lists, careUnit, former.resourceId);
  if ((await othersAt(ehr, careUnit, formerResource, before)).length >= placesOf(before)) return;
  await moveBack(ehr, careUnit, { ...before, status: 'booked' }, second).catch((error: unknown) => {
    // That is what the move back says to a caller.
    if (!(error instanceof ConnectorError) || error.kind !== 'time_slot_unavailable') throw error;
  });
}

/** The one booking of a patient at a place, made since a time, if it has no room there. */
async function secondAt(
  ehr: Ehr,
  careUnit: CareUnit,
  patientId: string,
  { resourceId, start }: Place,
  since: Date,
): Promise<CareBooking | undefined> {
  const resource = await requireResource(ehr.lists, careUnit, resourceId);
  const there = await bookingsOf(ehr, careUnit, [resource], dateIn(careUnit.timeZone, start));
  const isTheirs = (it: CareBooking) =>
    it.patient.id === patientId && timeOf(it).start.getTime() === start.getTime() && takesPlace(it);
  const [only, another] = there.filter(isTheirs);
  if (!only || another) return undefined;
  const isOlder = (instantIn(only.created_date)?.getTime() ?? 0) < since.getTime() - clockSkewMilliseconds;
  if (isOlder || start <= ehr.now() || toAppointment(ehr, careUnit, only).hasStarted) return undefined;
  return (await cameTooLate(only, lookAt(ehr, careUnit, resource, only))) ? only : undefined;
}

/** The other bookings that take a place at the time of one. */
async function othersAt(ehr: Ehr, careUnit: CareUnit, resource: Resource, booking: CareBooking) {
  const { start, end } = assertComplete(toAppointment(ehr, careUnit, booking));
  const there = await bookingsOf(ehr, careUnit, [resource], dateIn(careUnit.timeZone, start));
  return there.filter((it) => it.id !== booking.id && overlaps(timeOf(it), { start, end }));
}

function placesOf({ token_slot: slot }: CareBooking): number {
  return slot.availability?.tokens_per_slot ?? 1;
}

async function withdraw(ehr: Ehr, careUnit: CareUnit, { id }: CareBooking): Promise<void> {
  await ehr.client.write(`${bookingPath(ehr, careUnit, id)}cancel/`, { reason: 'entered_in_error' });
}
