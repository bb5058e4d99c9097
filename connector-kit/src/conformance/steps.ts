import { randomUUID } from 'node:crypto';
import type {
  AppointmentChange,
  AppointmentCreation,
  AppointmentQuery,
  ChangeKind,
  Connector,
  TimeSlotQuery,
} from '../connector.ts';
import type { PatientIdentifier } from '../identifiers.ts';
import type { Appointment, PatientDetails, TimeSlot } from '../records.ts';
import { type Claim, NotChecked } from './check.ts';
import { expectSame, expectThat, given, operation } from './expect.ts';
import type { Subject } from './subject.ts';

const day = 24 * 60 * 60 * 1000;

/** Maximum number of slots read in one query. */
const maxSlots = 400;

/** The EHR's own id of the known patient, or the identifier with its type where identifiers pass through. */
export async function patientId({ facts, connector }: Subject): Promise<string> {
  const identifiers = given(facts.patient, 'no patient is given');
  const { passesThrough } = connector.capabilities;
  if (passesThrough) return given(passing(passesThrough, identifiers)[0], 'no identifier that passes through is given');
  const own = identifiers.find(({ type }) => type === 'emr_id');
  if (own) return own.value;
  const [first] = identifiers;
  if (!first) throw new NotChecked('no patient is given');
  const patient = await operation(connector, 'findPatient')(first);
  return given(patient, 'the EHR does not have the given patient').id;
}

function passing(types: readonly string[], identifiers: readonly PatientIdentifier[]): string[] {
  return identifiers.filter(({ type }) => types.includes(type)).map(({ type, value }) => `${type}:${value}`);
}

/** Identifiers of the EHR pass through: it cannot look up patients. */
export const passesPatients: Claim = ({ connector }) => connector.capabilities.passesThrough !== undefined;

/** Another patient, who may not exist if the EHR can tell. */
export function anotherPatientId({ facts, connector }: Subject): string {
  if (facts.otherPatientId !== undefined) return facts.otherPatientId;
  const { passesThrough } = connector.capabilities;
  if (!passesThrough) return 'no-such-patient';
  return given(passing(passesThrough, facts.unknownPatients ?? [])[0], 'no other patient is given');
}

export function windowOf({ facts }: Subject): { start: Date; end: Date } {
  return facts.window ?? { start: new Date(Date.now() + day), end: new Date(Date.now() + 61 * day) };
}

/** Free slots of the care unit, filtered by the known resource and service if they are given. */
export async function freeSlots(
  subject: Subject,
  query: Partial<Omit<TimeSlotQuery, 'careUnit'>> = {},
): Promise<readonly TimeSlot[]> {
  const { connector, careUnit, facts } = subject;
  const resourceId = facts.resource?.find(({ type }) => type === 'emr_id')?.value;
  const named = {
    ...(resourceId === undefined ? {} : { resourceIds: [resourceId] }),
    ...(facts.healthcareServiceId === undefined ? {} : { healthcareServiceIds: [facts.healthcareServiceId] }),
  };
  const ofPatient = connector.capabilities.slotsByPatient ? { patientId: await patientId(subject) } : {};
  const range = windowOf(subject);
  return operation(
    connector,
    'listTimeSlots',
  )({ careUnit, ...range, limit: maxSlots, ...named, ...ofPatient, ...query });
}

/**
 * Consecutive free slots of one resource, service and modality: an appointment has one of each. Reads the whole window only if
 * its first days have none, because nearly each check begins with this.
 */
export async function consecutiveSlots(subject: Subject, count: number, named: Named = {}): Promise<TimeSlot[]> {
  const { start, end } = windowOf(subject);
  const firstDays = { start, end: new Date(Math.min(end.getTime(), start.getTime() + 3 * day)) };
  const found =
    runIn(await freeSlots(subject, { ...named, ...firstDays }), count) ?? runIn(await freeSlots(subject, named), count);
  if (found) return found;
  throw new NotChecked(`the EHR has no ${count === 1 ? 'free slot' : `${count} consecutive free slots`}`);
}

type Named = Partial<Pick<TimeSlotQuery, 'resourceIds' | 'healthcareServiceIds'>>;

function runIn(slots: readonly TimeSlot[], count: number): TimeSlot[] | undefined {
  for (const first of slots) {
    const found = [first];
    while (found.length < count) {
      const last = found.at(-1);
      const next = slots.find((slot) => canJoin(slot, first) && slot.start.getTime() === last?.end.getTime());
      if (!next) break;
      found.push(next);
    }
    if (found.length === count) return found;
  }
  return undefined;
}

export async function freeSlot(subject: Subject, named: Named = {}): Promise<TimeSlot> {
  const [slot] = await consecutiveSlots(subject, 1, named);
  return given(slot, 'the EHR has no free slot');
}

/** Two free slots of different resources at the same time, for one service. */
export async function simultaneousSlots(subject: Subject): Promise<[TimeSlot, TimeSlot]> {
  const slots = await freeSlots(subject, { resourceIds: undefined });
  for (const a of slots) {
    const b = slots.find(
      (slot) =>
        slot.resourceId !== a.resourceId &&
        slot.healthcareServiceId === a.healthcareServiceId &&
        slot.start.getTime() === a.start.getTime() &&
        slot.end.getTime() === a.end.getTime(),
    );
    if (b) return [a, b];
  }
  throw new NotChecked('the EHR has no two resources with free slots at the same time for one service');
}

function canJoin(a: TimeSlot, b: TimeSlot): boolean {
  const isSameModality = (a.modality ?? null) === (b.modality ?? null);
  return isSameModality && a.resourceId === b.resourceId && a.healthcareServiceId === b.healthcareServiceId;
}

/** Whether the slot is listed as free. */
export async function isFree(subject: Subject, slot: TimeSlot): Promise<boolean> {
  const found = await freeSlots(subject, {
    start: slot.start,
    end: slot.end,
    resourceIds: [slot.resourceId],
    healthcareServiceIds: [slot.healthcareServiceId],
  });
  return found.some((it) => it.start.getTime() === slot.start.getTime() && it.end.getTime() === slot.end.getTime());
}

/** A `create` change from the start of the first slot to the end of the last. */
export async function creation(
  subject: Subject,
  first: TimeSlot,
  options: { last?: TimeSlot; comment?: string | null; holdUntil?: Date | null; patientId?: string } = {},
): Promise<AppointmentCreation> {
  return {
    kind: 'create',
    patientId: options.patientId ?? (await patientId(subject)),
    resourceId: first.resourceId,
    healthcareServiceId: first.healthcareServiceId,
    start: first.start,
    end: (options.last ?? first).end,
    comment: options.comment ?? null,
    holdUntil: options.holdUntil ?? null,
    ...(subject.connector.capabilities.patientDetails === 'required' ? { patientDetails: detailsOf(subject) } : {}),
  };
}

/** What a booking tells about the known patient. */
export function detailsOf({ facts }: Subject): PatientDetails {
  return facts.patientDetails ?? { givenName: 'Test', familyName: 'Person', phone: null, email: null };
}

/** @throws NotChecked if the connector cannot book an appointment to check with */
export function needsBooking({ connector }: Subject): void {
  if (connector.capabilities.changes.includes('create')) return;
  throw new NotChecked('the check needs an appointment, and the connector cannot book one');
}

/** Claims all these changes. */
export function changes(...kinds: readonly ChangeKind[]): Claim {
  return ({ connector }) => kinds.every((kind) => connector.capabilities.changes.includes(kind));
}

/** Claims all these operations. */
export function has(...names: readonly (keyof Connector)[]): Claim {
  return ({ connector }) => names.every((name) => connector[name] !== undefined);
}

/** Appointments of this EHR take one slot each. */
export const takesOneSlot: Claim = ({ facts }) => facts.oneSlotOnly ?? false;

/** The EHR cannot move an appointment. The gateway books the new time and cancels the former appointment. */
export const rebooks: Claim = ({ connector }) => connector.capabilities.rebooks ?? false;

/** The EHR moves an appointment in one step, and gives it a new id. */
export const movesToNewId: Claim = ({ connector }) => connector.capabilities.movesToNewId ?? false;

/** `update` changes the time and the resource of an appointment. */
export const moves: Claim = (subject) => changes('update')(subject) && !rebooks(subject);

export function not(claim: Claim): Claim {
  return (subject) => !claim(subject);
}

interface WriteOptions {
  readonly operationId?: string;
  /** Default: only without an operation id. */
  readonly isFirst?: boolean;
  readonly through?: Connector;
}

/** The time that a booking or a move takes. */
export function slotOf(change: AppointmentChange, made?: Appointment): TimeSlot {
  if (change.kind === 'create') return change;
  const { time } = change.kind === 'update' ? change : {};
  if (!time) throw new TypeError('The change takes no time');
  return { ...time, resourceId: made?.resourceId ?? '', healthcareServiceId: made?.healthcareServiceId ?? '' };
}

/** Makes one write, with a new operation id unless one is given. */
export async function write(
  { connector, careUnit }: Subject,
  changes: readonly AppointmentChange[],
  options: WriteOptions = {},
): Promise<readonly Appointment[]> {
  const { operationId = randomUUID(), isFirst = options.operationId === undefined, through = connector } = options;
  const changeAppointments = operation(through, 'changeAppointments');
  const result = await changeAppointments({ operationId, careUnit, isFirst, changes });
  expectSame(result.length, changes.length, 'Appointments returned by a write');
  return result;
}

/** Makes one change and returns its appointment. */
export async function change(
  subject: Subject,
  what: AppointmentChange,
  options: WriteOptions = {},
): Promise<Appointment> {
  const [appointment] = await write(subject, [what], options);
  expectThat(appointment !== undefined, 'A write returned no appointment');
  return appointment;
}

/** Books the given slot, or any free slot. */
export async function book(
  subject: Subject,
  options: { slot?: TimeSlot; last?: TimeSlot; comment?: string | null; patientId?: string } = {},
): Promise<Appointment> {
  needsBooking(subject);
  await patientId(subject);
  return change(subject, await creation(subject, options.slot ?? (await freeSlot(subject)), options));
}

/** The current appointment in the EHR, or `undefined` if the care unit has none with this id. */
export async function read({ connector, careUnit }: Subject, id: string): Promise<Appointment | undefined> {
  const found = await operation(connector, 'findAppointments')(careUnit, [id]);
  return found.find((appointment) => appointment.id === id);
}

/** Of this EHR, cancelled appointments cannot be read. */
export const forgetsCancelled: Claim = ({ connector }) => connector.capabilities.forgetsCancelled ?? false;

/** @throws Failure unless the appointment is cancelled, or gone from an EHR that forgets cancelled ones */
export async function mustBeCancelled(subject: Subject, id: string, what: string): Promise<void> {
  const found = await read(subject, id);
  if (found === undefined && forgetsCancelled(subject)) return;
  expectThat(found !== undefined, 'A created appointment is not found by its id');
  expectSame(found.state, 'cancelled', what);
}

/** @throws Failure if the appointment is not found */
export async function mustRead(subject: Subject, id: string): Promise<Appointment> {
  const found = await read(subject, id);
  expectThat(found !== undefined, 'A created appointment is not found by its id');
  return found;
}

const pageSize = 500;

/** Of this EHR, only the appointments of one patient can be listed. */
export const listsByPatientOnly: Claim = ({ connector }) => connector.capabilities.appointmentsByPatient === 'required';

/**
 * Reads all pages, because earlier runs leave many cancelled appointments at the same times. An EHR that lists by patient only
 * is asked for each patient for whom the kit books.
 */
export async function listAllPages(
  subject: Subject,
  query: Partial<AppointmentQuery>,
): Promise<readonly Appointment[]> {
  if (query.patientId !== undefined || !listsByPatientOnly(subject)) return pagesOf(subject, query);
  const patients = [await patientId(subject), subject.facts.otherPatientId].filter((id) => id !== undefined);
  return (await Promise.all(patients.map((id) => pagesOf(subject, { ...query, patientId: id })))).flat();
}

async function pagesOf(
  { connector, careUnit }: Subject,
  query: Partial<AppointmentQuery>,
): Promise<readonly Appointment[]> {
  const list = operation(connector, 'listAppointments');
  const found = new Map<string, Appointment>();
  for (let after: Appointment | undefined; ; ) {
    const page = await list({ careUnit, limit: pageSize, after, ...query });
    const known = found.size;
    for (const appointment of page) found.set(appointment.id, appointment);
    after = page.at(-1);
    if (page.length < pageSize || found.size === known) return [...found.values()];
  }
}

/**
 * All booked, held or pending appointments of the resource that overlap the time, no matter who booked them: in an EHR that
 * lists by patient only, those of the known patients.
 */
export async function appointmentsAt(
  subject: Subject,
  slot: TimeSlot,
  last: TimeSlot = slot,
): Promise<readonly Appointment[]> {
  const range = { start: slot.start, end: last.end };
  const found = await listAllPages(subject, { resourceId: slot.resourceId, range });
  return found.filter(({ state }) => state !== 'cancelled');
}
