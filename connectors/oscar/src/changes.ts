import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  assertComplete,
  type CareUnit,
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
import type { Ehr } from './ehr.ts';
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
  { inTurn }: Ehr,
  { timeZone }: CareUnit,
  { places = [], ids = [] }: { readonly places?: readonly Place[]; readonly ids?: readonly string[] },
  run: () => Promise<Result>,
): Promise<Result> {
  const days = places.map(({ resourceId, start }) => `provider ${resourceId} on ${dateIn(timeZone, start)}`);
  return inTurns(inTurn, [...days, ...ids.map((id) => `appointment ${id}`)], run);
}

async function change(ehr: Ehr, careUnit: CareUnit, id: string, how: Change): Promise<Appointment> {
  const sent = await inTurnOf(ehr, careUnit, { ids: [id] }, () => sendUpdate(ehr, careUnit, id, how));
  return shown(ehr, careUnit, await settleUpdate(ehr, careUnit, sent));
}

export async function book(ehr: Ehr, careUnit: CareUnit, creation: AppointmentCreation): Promise<Appointment> {
  const row = await newRow(ehr, careUnit, creation);
  const { parts, id } = await inTurnOf(ehr, careUnit, { places: [creation] }, async () => {
    const free = await freePartsAt(ehr, careUnit, creation, creation.healthcareServiceId);
    const [added] = await ehr.client.write('Schedule.addAppointment', recordOf(row));
    return { parts: free, id: added?.text ?? '' };
  });
  const made = await mustFind(ehr, careUnit, id);
  if (await isAlone(ehr, careUnit, made, parts)) return shown(ehr, careUnit, made);
  await withdraw(ehr, careUnit, made);
  throw timeTaken({ nothingChanged: true });
}

async function withdraw(ehr: Ehr, careUnit: CareUnit, { id }: Row): Promise<void> {
  const reason = 'Withdrawn: somebody else was booked at the same moment';
  const withdrawn = await sendUpdate(ehr, careUnit, id, () => ({ fields: { status: cancelledStatus, reason } }));
  await settleUpdate(ehr, careUnit, withdrawn);
}

/**
 * After an interruption: the gateway that has booked may be gone, and OSCAR may have booked late, when somebody else had the time.
 * So whoever goes on looks whether the booking stands alone, and takes it back if it does not. What OSCAR has not made yet, it can
 * still make.
 */
export async function settleChanges(ehr: Ehr, changes: InterruptedChanges): Promise<boolean> {
  const { careUnit, made, notSeen, since } = changes;
  for (const booking of made.filter((it) => it.kind === 'create')) {
    const there = (await takenOn(ehr, careUnit, booking)).filter((it) => overlaps(it, booking));
    const own = there.filter((it) => isOwn(ehr, it, booking, since));
    const day = await partsOf(ehr, careUnit, booking.resourceId, dateIn(careUnit.timeZone, booking.start));
    const parts = day.filter((it) => overlaps(it, booking));
    const [only] = own;
    if (!only || own.length > 1 || only.start <= ehr.now() || standingOf(only).hasStarted) continue;
    const late = await Promise.all(looksAt(ehr, careUnit, parts).map((look) => cameTooLate(only, look)));
    if (late.some(Boolean)) await withdraw(ehr, careUnit, only);
  }
  return notSeen.length === 0;
}

/** Whether a row was booked by a gateway, for this patient and start, since a time. */
function isOwn({ settings }: Ehr, row: Row, { patientId, start }: AppointmentCreation, since: Date): boolean {
  const { creator, demographicNo, createDateTime } = row.fields;
  const created = instantIn(createDateTime)?.getTime() ?? 0;
  const isSince = created >= since.getTime() - clockSkewMilliseconds;
  const isTheirs = creator === settings.username && demographicNo === patientId;
  return isSince && isTheirs && row.start.getTime() === start.getTime();
}

async function newRow(ehr: Ehr, careUnit: CareUnit, creation: AppointmentCreation): Promise<Row> {
  const { patientId, resourceId, healthcareServiceId, start, end, comment } = creation;
  await requireResource(ehr.lists, careUnit, resourceId);
  const service = await requireService(ehr.lists, careUnit, healthcareServiceId);
  const patient = await findPatient(ehr, { type: 'emr_id', value: patientId });
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const isUsed = patient.id === patientId && !patient.isInactive;
  if (!isUsed) throw new ConnectorError('patient_inactive', 'The record of the patient is out of use');
  const { location = '', program = 0 } = ehr.unitOf(careUnit);
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
async function isAlone(ehr: Ehr, careUnit: CareUnit, made: Row, parts: readonly Part[]): Promise<boolean> {
  const looks = looksAt(ehr, careUnit, parts).map((look) => standsAlone(made, look));
  return (await Promise.all(looks)).every(Boolean);
}

function looksAt(ehr: Ehr, careUnit: CareUnit, parts: readonly Part[]) {
  return parts.map((part) => ({
    read: async () => (await takenOn(ehr, careUnit, part)).filter((it) => overlaps(it, part)),
    keyOf: ({ id }: Row) => [Number(id)],
    places: part.places,
  }));
}

export async function update(ehr: Ehr, careUnit: CareUnit, wanted: AppointmentUpdate): Promise<Appointment> {
  const { appointmentId, comment } = wanted;
  if (isMove(wanted)) return move(ehr, careUnit, wanted);
  const before = await mustFind(ehr, careUnit, appointmentId);
  assertChangeable(standingOf(before), false);
  if (comment === undefined) return shown(ehr, careUnit, before);
  const notes = notesFor(comment);
  return change(ehr, careUnit, appointmentId, (row) => {
    assertChangeable(standingOf(row), false);
    return { fields: { notes } };
  });
}

/** The appointment keeps its id, to which notes and bills refer. */
async function move(ehr: Ehr, careUnit: CareUnit, wanted: AppointmentUpdate): Promise<Appointment> {
  const { appointmentId: id, time, resourceId, comment } = wanted;
  const before = await mustFind(ehr, careUnit, id);
  assertChangeable(standingOf(before), true);
  const former = assertComplete(await shown(ehr, careUnit, before));
  const target = { ...former, ...time, resourceId: resourceId ?? former.resourceId };
  await requireResource(ehr.lists, careUnit, target.resourceId);
  const noted = comment === undefined ? undefined : { notes: notesFor(comment) };
  const toTarget: Change = (row) => {
    assertChangeable(standingOf(row), true);
    return placed(target, noted ?? {});
  };
  const sent = await inTurnOf(ehr, careUnit, { places: [former, target], ids: [id] }, async () => {
    await freePartsAt(ehr, careUnit, target, former.healthcareServiceId, [id]);
    return sendUpdate(ehr, careUnit, id, toTarget);
  });
  const moved = await settleUpdate(ehr, careUnit, sent);
  if (await fits(ehr, careUnit, target, id)) return shown(ehr, careUnit, moved);
  // Where this call found it: another one may have moved it while this one waited for its turn.
  const origin = assertComplete(await shown(ehr, careUnit, sent.before));
  const toOrigin: Change = ({ start, fields }) => {
    const isThere = start.getTime() === target.start.getTime() && fields.providerNo === target.resourceId;
    if (!isThere) throw new ConnectorError('outcome_unknown', 'Somebody has moved the appointment meanwhile');
    return placed(origin, noted && fields.notes === noted.notes ? { notes: sent.before.fields.notes ?? '' } : {});
  };
  const back = await inTurnOf(ehr, careUnit, { places: [origin], ids: [id] }, async () => {
    if (await fits(ehr, careUnit, origin, id)) return sendUpdate(ehr, careUnit, id, toOrigin);
    throw new ConnectorError('outcome_unknown', 'Both the new time and the former one were taken meanwhile');
  });
  await settleUpdate(ehr, careUnit, back);
  throw timeTaken({ nothingChanged: true });
}

function placed({ resourceId, start, end }: Place, fields: Row['fields']): ReturnType<Change> {
  return { start, end, fields: { ...fields, providerNo: resourceId } };
}

/** Whether the time has room for an appointment that is there. Outside all parts of the day there is room for one. */
async function fits(ehr: Ehr, careUnit: CareUnit, place: Place, id: string): Promise<boolean> {
  const day = dateIn(careUnit.timeZone, place.start);
  const parts = (await partsOf(ehr, careUnit, place.resourceId, day)).filter((it) => overlaps(it, place));
  const others = (await takenOn(ehr, careUnit, place)).filter((it) => it.id !== id && overlaps(it, place));
  return parts.length > 0 ? parts.every((part) => hasRoom(part, others)) : others.length === 0;
}

export async function cancel(ehr: Ehr, careUnit: CareUnit, wanted: AppointmentCancellation): Promise<Appointment> {
  const { appointmentId: id, comment } = wanted;
  const noted = comment === undefined ? {} : { notes: notesFor(comment) };
  const before = await mustFind(ehr, careUnit, id);
  if (standingOf(before).state === 'cancelled') return shown(ehr, careUnit, before);
  return change(ehr, careUnit, id, (row) => {
    if (standingOf(row).state === 'cancelled') return {};
    assertNotStarted(standingOf(row));
    return { fields: { ...noted, status: cancelledStatus } };
  });
}

async function shown(ehr: Ehr, careUnit: CareUnit, row: Row): Promise<Appointment> {
  return toAppointment(careUnit, await ehr.lists.of(careUnit), row);
}

/** @throws ConnectorError for characters that take four bytes: the column has room for three, and the text would end there */
function notesFor(comment: string | null): string {
  const notes = asXmlText(comment) ?? '';
  if (!/[\u{10000}-\u{10FFFF}]/u.test(notes)) return notes;
  const publicDetail = 'The EHR cannot store emoji in a comment.';
  throw new ConnectorError('change_not_allowed', 'The comment has characters that the EHR cannot store', {
    publicDetail,
  });
}

function takenOn(ehr: Ehr, careUnit: CareUnit, { resourceId, start }: Place): Promise<readonly Row[]> {
  return takenTimes(ehr, careUnit, resourceId, [dateIn(careUnit.timeZone, start)]);
}

/** The free parts that a time consists of. @throws ConnectorError `time_slot_unavailable` */
async function freePartsAt(
  ehr: Ehr,
  careUnit: CareUnit,
  { resourceId, start, end }: Place,
  service: string,
  freeing: readonly string[] = [],
): Promise<readonly Part[]> {
  if (start <= ehr.now()) throw timeTaken();
  const free = await freePartsOf(ehr, careUnit, resourceId, [dateIn(careUnit.timeZone, start)], freeing);
  const parts = free.filter((it) => it.healthcareServiceIds.includes(service) && it.start >= start && it.end <= end);
  if (!coversWithoutGap(parts, { start, end })) throw timeTaken();
  return parts;
}
