import {
  type Appointment,
  type AppointmentCreation,
  type AppointmentWrite,
  ConnectorError,
} from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import { type FhirAppointment, referenceTo } from '../../fhir.ts';
import { type AppointmentDialect, standingOf } from '../../mappers/appointment.ts';
import { patientIn, viewOf, withMark, withoutPatient } from '../../mappers/group.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { creationKey, operationIdentifiers, remember } from '../operation-ids.ts';
import { newAppointment } from './new-appointment.ts';
import { assertNotStarted, type ChangeOfExisting, type Ruling, ruleOn } from './rules.ts';

/** An appointment before and after the write. */
export interface Draft {
  /** `null`: it is to be created. */
  readonly before: FhirAppointment | null;
  after: FhirAppointment;
  /** The operation identifier that proves that the appointment was created. */
  readonly key: string;
  /** The owner that its slots name. */
  readonly owner: string;
}

/** What the write does to the slots that an appointment has. */
export type SlotOutcome = Exclude<Ruling['slots'], 'stay'>;

/** A time of a resource that is to be booked. */
export interface WantedTime {
  readonly resourceId: string;
  readonly serviceId: string | null;
  readonly start: Date;
  readonly end: Date;
}

/** A time that an appointment needs. */
export interface NeededTime extends WantedTime {
  readonly draft: Draft;
  readonly holdUntil: Date | null;
}

export interface Drafted {
  /** Each appointment once. */
  readonly drafts: readonly Draft[];
  /** For the drafts whose slots change. */
  readonly slotOutcomes: ReadonlyMap<Draft, SlotOutcome>;
  readonly neededTimes: readonly NeededTime[];
  /** For each change of the write, the index of its appointment in `drafts`. */
  readonly order: readonly number[];
}

/** An appointment as it is stored, and as the connector shows it with what only other records say. */
export interface ExistingAppointment {
  readonly resource: FhirAppointment;
  readonly facts: Appointment;
}

/** The data that is read before the changes are applied. */
export interface Known {
  readonly ehr: BookingConnection;
  readonly directory: CareUnitDirectory;
  /** Appointments of the care unit, by the id in the change: several ids may name one Appointment. */
  readonly existing: ReadonlyMap<string, ExistingAppointment>;
  /** By the EHR's clock. */
  readonly now: Date;
}

/**
 * Applies the changes of a write to their appointments, in order. Reads and writes nothing.
 *
 * @throws ConnectorError if the state of an appointment does not allow its change
 */
export function draftChanges(known: Known, { operationId, changes }: AppointmentWrite): Drafted {
  const { ehr, directory, existing, now } = known;
  const drafts: Draft[] = [];
  const slotOutcomes = new Map<Draft, SlotOutcome>();
  const neededTimes: NeededTime[] = [];

  function create(creation: AppointmentCreation, index: number): Draft {
    const identifiers = operationIdentifiers(operationId, index, changes.length);
    const key = creationKey(operationId, index, changes.length);
    const draft = { before: null, after: newAppointment(creation, directory, ehr, identifiers), key, owner: key };
    neededTimes.push({ draft, ...creation, serviceId: creation.healthcareServiceId });
    return draft;
  }

  function change(wanted: ChangeOfExisting, index: number): Draft {
    const draft = draftOf(wanted.appointmentId);
    const operationKey = creationKey(operationId, index, changes.length);
    const ruling = ruleOnPatient(draft.after, wanted, { dialect: ehr.dialect, now, operationKey });
    const identifiers = operationIdentifiers(operationId, index, changes.length);
    draft.after = ehr.operationLookup ? remember(ruling.after, identifiers) : ruling.after;
    if (ruling.slots !== 'stay') slotOutcomes.set(draft, ruling.slots);
    const move = moveOf(existing.get(wanted.appointmentId)?.facts, draft, wanted);
    if (move) {
      assertNotStarted(draft.after);
      slotOutcomes.set(draft, 'free');
      neededTimes.push(move);
    }
    return draft;
  }

  function draftOf(appointmentId: string): Draft {
    const before = existing.get(appointmentId)?.resource;
    if (!before) throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
    const drafted = drafts.find((it) => it.before === before);
    return drafted ?? { before, after: before, key: operationId, owner: referenceTo(before) };
  }

  const order = changes.map((it, index) => {
    const draft = it.kind === 'create' ? create(it, index) : change(it, index);
    const place = drafts.indexOf(draft);
    return place === -1 ? drafts.push(draft) - 1 : place;
  });
  return { drafts, slotOutcomes, neededTimes, order };
}

/** `undefined`: the appointment keeps its time and its resource. */
function moveOf(facts: Appointment | undefined, draft: Draft, change: ChangeOfExisting): NeededTime | undefined {
  if (change.kind !== 'update' || !facts) return undefined;
  const { start, end } = change.time ?? facts;
  const resourceId = change.resourceId ?? facts.resourceId;
  if (!end || resourceId === null) return undefined;
  const stays =
    facts.resourceId === resourceId &&
    facts.start.getTime() === start.getTime() &&
    facts.end?.getTime() === end.getTime();
  if (stays) return undefined;
  return { draft, resourceId, serviceId: facts.healthcareServiceId, start, end, holdUntil: null };
}

/**
 * Applies a change of one patient's appointment. If other patients share the Appointment, it stays the same for them: a
 * cancellation declines for this patient, and nothing else can be changed.
 *
 * @param operationKey marks the patient whose appointment the write changes
 * @throws ConnectorError if the state does not allow the change; `unsupported` for a change that would affect the
 * others
 */
function ruleOnPatient(
  appointment: FhirAppointment,
  change: ChangeOfExisting,
  { dialect, now, operationKey }: { dialect: AppointmentDialect; now: Date; operationKey: string },
): Ruling {
  const patient = patientIn(appointment, change.appointmentId);
  if (!patient) return ruleOn(appointment, change, dialect, now);
  const { patientId, hasOthers } = patient;
  const view = viewOf(appointment, change.appointmentId);
  const isOver = view === undefined || standingOf(view, now).state === 'cancelled';
  const marked = (after: FhirAppointment) => withMark(after, patientId, operationKey);
  if (!hasOthers && !isOver) {
    const ruling = ruleOn(appointment, change, dialect, now);
    return { ...ruling, after: marked(ruling.after) };
  }
  if (change.kind !== 'cancel' && change.kind !== 'release') {
    if (isOver) throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
    throw new ConnectorError('unsupported', 'An appointment of several patients is not changed for one of them');
  }
  if (isOver) return { after: marked(appointment), slots: 'stay' };
  assertNotStarted(appointment);
  return { after: marked(withoutPatient(appointment, patientId)), slots: 'stay' };
}
