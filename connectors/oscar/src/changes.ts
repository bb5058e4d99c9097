import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  assertComplete,
  ConnectorError,
  coversWithoutGap,
  type InterruptedChanges,
  inTurns,
  overlaps,
  type Patient,
} from '@crossward/connector-kit';
import {
  assertChangeable,
  assertNotStarted,
  cameTooLate,
  dateIn,
  instantIn,
  isMove,
  requireResource,
  requireService,
  standsAlone,
  timeTaken,
} from '@crossward/connector-kit/rest';
import { asXmlText } from '@crossward/connector-kit/soap';
import { type Row, standingOf, toAppointment } from './appointments.ts';
import type { At } from './ehr.ts';
import { findPatient } from './patients.ts';
import { type Change, mustFind, recordOf, sendUpdate, settleUpdate } from './rows.ts';
import { freePartsOf, hasRoom, type Part, partsOf, takenTimes } from './time-slots.ts';
import { lastMinute } from './times.ts';

/** A longer text would be cut. */
export const longestComment = 255;
const longest = { name: 50, reason: 80, type: 50 };
/** How far the clock of the server may be behind. */
const clockSkewMilliseconds = 60_000;
const [bookedStatus, cancelledStatus] = ['t', 'C'];

interface Place {
  readonly resourceId: string;
  readonly start: Date;
  readonly end: Date;
}

/**
 * OSCAR books one time as often as it is asked to, and compares no versions. So bookings of a provider's day, and changes of an
 * appointment, take turns over all gateways.
 */
function inTurnOf<Result>(
  { inTurn, careUnit }: At,
  { places = [], ids = [] }: { readonly places?: readonly Place[]; readonly ids?: readonly string[] },
  run: () => Promise<Result>,
): Promise<Result> {
  const days = places.map(({ resourceId, start }) => `provider ${resourceId} on ${dateIn(careUnit.timeZone, start)}`);
  return inTurns(inTurn, [...days, ...ids.map((id) => `appointment ${id}`)], run);
}

async function change(at: At, id: string, how: Change): Promise<Appointment> {
  const sent = await inTurnOf(at, { ids: [id] }, () => sendUpdate(at, id, how));
  return shown(at, await settleUpdate(at, sent));
}

export async function book(at: At, creation: AppointmentCreation): Promise<Appointment> {
  const row = await newRow(at, creation);
  const { parts, id } = await inTurnOf(at, { places: [creation] }, async () => {
    const free = await freePartsAt(at, creation, creation.healthcareServiceId);
    const [added] = await at.client.write('Schedule.addAppointment', recordOf(row));
    return { parts: free, id: added?.text ?? '' };
  });
  const made = await mustFind(at, id);
  if (await isAlone(at, made, parts)) return shown(at, made);
  await withdraw(at, made);
  throw timeTaken({ nothingChanged: true });
}

async function withdraw(at: At, { id }: Row): Promise<void> {
  const reason = 'Withdrawn: somebody else was booked at the same moment';
  await settleUpdate(at, await sendUpdate(at, id, () => ({ fields: { status: cancelledStatus, reason } })));
}

/**
 * After an interruption: the gateway that has booked may be gone, and OSCAR may have booked late, when somebody else had the time.
 * So whoever goes on looks whether the booking stands alone, and takes it back if it does not. What OSCAR has not made yet, it can
 * still make.
 */
export async function settleChanges(at: At, { made, notSeen, since }: InterruptedChanges): Promise<boolean> {
  for (const booking of made.filter((it) => it.kind === 'create')) {
    const there = (await takenOn(at, booking)).filter((it) => overlaps(it, booking));
    const own = there.filter((it) => isOwn(at, it, booking, since));
    const day = await partsOf(at, booking.resourceId, dateIn(at.careUnit.timeZone, booking.start));
    const parts = day.filter((it) => overlaps(it, booking));
    const [only] = own;
    if (!only || own.length > 1 || only.start <= at.now() || standingOf(only).hasStarted) continue;
    const late = await Promise.all(looksAt(at, parts).map((look) => cameTooLate(only, look)));
    if (late.some(Boolean)) await withdraw(at, only);
  }
  return notSeen.length === 0;
}

/** Whether a row was booked by a gateway, for this patient and start, since a time. */
function isOwn({ settings }: At, row: Row, { patientId, start }: AppointmentCreation, since: Date): boolean {
  const { creator, demographicNo, createDateTime } = row.fields;
  const created = instantIn(createDateTime)?.getTime() ?? 0;
  const isSince = created >= since.getTime() - clockSkewMilliseconds;
  const isTheirs = creator === settings.username && demographicNo === patientId;
  return isSince && isTheirs && row.start.getTime() === start.getTime();
}

async function newRow(at: At, creation: AppointmentCreation): Promise<Row> {
  const { patientId, resourceId, healthcareServiceId, start, end, comment } = creation;
  await requireResource(at.lists, resourceId);
  const service = await requireService(at.lists, healthcareServiceId);
  const patient = await findPatient(at, { type: 'emr_id', value: patientId });
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const isUsed = patient.id === patientId && !patient.isInactive;
  if (!isUsed) throw new ConnectorError('patient_inactive', 'The record of the patient is out of use');
  const { location = '', program = 0 } = at.unit;
  const fields = {
    ...{ providerNo: resourceId, demographicNo: patientId, programId: String(program), status: bookedStatus, location },
    name: nameOf(patient).slice(0, longest.name),
    type: service.name.slice(0, longest.type),
    reason: service.name.slice(0, longest.reason),
    notes: notesFor(comment),
    ...{ resources: '', style: '', billing: '', remarks: '', urgency: '' },
  };
  return { id: '', fields, start, end, storedEnd: lastMinute(end) };
}

function nameOf({ familyName, givenName }: Patient): string {
  return [familyName, givenName].filter(Boolean).join(',');
}

/** Staff take no turns. */
async function isAlone(at: At, made: Row, parts: readonly Part[]): Promise<boolean> {
  const looks = looksAt(at, parts).map((look) => standsAlone(made, look));
  return (await Promise.all(looks)).every(Boolean);
}

function looksAt(at: At, parts: readonly Part[]) {
  return parts.map((part) => ({
    read: async () => (await takenOn(at, part)).filter((it) => overlaps(it, part)),
    keyOf: ({ id }: Row) => [Number(id)],
    places: part.places,
  }));
}

export async function update(at: At, wanted: AppointmentUpdate): Promise<Appointment> {
  const { appointmentId, comment } = wanted;
  if (isMove(wanted)) return move(at, wanted);
  const before = await mustFind(at, appointmentId);
  assertChangeable(standingOf(before), false);
  if (comment === undefined) return shown(at, before);
  const notes = notesFor(comment);
  return change(at, appointmentId, (row) => {
    assertChangeable(standingOf(row), false);
    return { fields: { notes } };
  });
}

/** The appointment keeps its id, to which notes and bills refer. */
async function move(at: At, wanted: AppointmentUpdate): Promise<Appointment> {
  const { appointmentId: id, time, resourceId, comment } = wanted;
  const before = await mustFind(at, id);
  assertChangeable(standingOf(before), true);
  const former = assertComplete(await shown(at, before));
  const target = { ...former, ...time, resourceId: resourceId ?? former.resourceId };
  await requireResource(at.lists, target.resourceId);
  const noted = comment === undefined ? undefined : { notes: notesFor(comment) };
  const toTarget: Change = (row) => {
    assertChangeable(standingOf(row), true);
    return placed(target, noted ?? {});
  };
  const sent = await inTurnOf(at, { places: [former, target], ids: [id] }, async () => {
    await freePartsAt(at, target, former.healthcareServiceId, [id]);
    return sendUpdate(at, id, toTarget);
  });
  const moved = await settleUpdate(at, sent);
  if (await fits(at, target, id)) return shown(at, moved);
  // Where this call found it: another one may have moved it while this one waited for its turn.
  const origin = assertComplete(await shown(at, sent.before));
  const toOrigin: Change = ({ start, fields }) => {
    const isThere = start.getTime() === target.start.getTime() && fields.providerNo === target.resourceId;
    if (!isThere) throw new ConnectorError('outcome_unknown', 'Somebody has moved the appointment meanwhile');
    return placed(origin, noted && fields.notes === noted.notes ? { notes: sent.before.fields.notes ?? '' } : {});
  };
  const back = await inTurnOf(at, { places: [origin], ids: [id] }, async () => {
    if (await fits(at, origin, id)) return sendUpdate(at, id, toOrigin);
    throw new ConnectorError('outcome_unknown', 'Both the new time and the former one were taken meanwhile');
  });
  await settleUpdate(at, back);
  throw timeTaken({ nothingChanged: true });
}

function placed({ resourceId, start, end }: Place, fields: Row['fields']): ReturnType<Change> {
  return { start, end, fields: { ...fields, providerNo: resourceId } };
}

/** Whether the time has room for an appointment that is there. Outside all parts of the day there is room for one. */
async function fits(at: At, place: Place, id: string): Promise<boolean> {
  const day = dateIn(at.careUnit.timeZone, place.start);
  const parts = (await partsOf(at, place.resourceId, day)).filter((it) => overlaps(it, place));
  const others = (await takenOn(at, place)).filter((it) => it.id !== id && overlaps(it, place));
  return parts.length > 0 ? parts.every((part) => hasRoom(part, others)) : others.length === 0;
}

export async function cancel(at: At, wanted: AppointmentCancellation): Promise<Appointment> {
  const { appointmentId: id, comment } = wanted;
  const noted = comment === undefined ? {} : { notes: notesFor(comment) };
  const before = await mustFind(at, id);
  if (standingOf(before).state === 'cancelled') return shown(at, before);
  return change(at, id, (row) => {
    if (standingOf(row).state === 'cancelled') return {};
    assertNotStarted(standingOf(row));
    return { fields: { ...noted, status: cancelledStatus } };
  });
}

async function shown(at: At, row: Row): Promise<Appointment> {
  return toAppointment(at, await at.lists.get(), row);
}

/** @throws ConnectorError for characters that take four bytes: the column has room for three, and the text would end there */
function notesFor(comment: string | null): string {
  const notes = asXmlText(comment) ?? '';
  if (!/[\u{10000}-\u{10FFFF}]/u.test(notes)) return notes;
  const options = { publicDetail: 'The EHR cannot store emoji in a comment.' };
  throw new ConnectorError('change_not_allowed', 'The comment has characters that the EHR cannot store', options);
}

function takenOn(at: At, { resourceId, start }: Place): Promise<readonly Row[]> {
  return takenTimes(at, resourceId, [dateIn(at.careUnit.timeZone, start)]);
}

/** The free parts that a time consists of. @throws ConnectorError `time_slot_unavailable` */
async function freePartsAt(
  at: At,
  { resourceId, start, end }: Place,
  service: string,
  freeing: readonly string[] = [],
): Promise<readonly Part[]> {
  if (start <= at.now()) throw timeTaken();
  const free = await freePartsOf(at, resourceId, [dateIn(at.careUnit.timeZone, start)], freeing);
  const parts = free.filter((it) => it.healthcareServiceIds.includes(service) && it.start >= start && it.end <= end);
  if (!coversWithoutGap(parts, { start, end })) throw timeTaken();
  return parts;
}
