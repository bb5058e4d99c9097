import {
  type AppointmentChange,
  type Capabilities,
  type Connector,
  type ConnectorOperation,
  type ConnectorOperations,
  writeOperations,
} from './connector.ts';
import { ConnectorError } from './errors.ts';
import type { Identifier } from './identifiers.ts';
import type { Appointment, CareUnit, Patient } from './records.ts';

type Result<Name extends ConnectorOperation> = Awaited<ReturnType<ConnectorOperations[Name]>>;
type Rules = {
  readonly [Name in ConnectorOperation]?: (
    result: Result<Name>,
    ...input: Parameters<ConnectorOperations[Name]>
  ) => boolean;
};

/** For each operation that names a record, whether its result is that record. */
const rulesFor = (connector: Connector): Rules => ({
  findPatient: (patient, identifier) => patient === null || isFoundBy(patient, identifier),
  createPatient: ({ patient }, { identifier }) => isFoundBy(patient, identifier),
  findResource: (resource, _, identifier) => resource === null || (resource.id !== '' && has(resource, identifier)),
  listTimeSlots: (timeSlots, { resourceIds, healthcareServiceIds }) =>
    timeSlots.every(
      (it) =>
        (resourceIds?.includes(it.resourceId) ?? true) &&
        (healthcareServiceIds?.includes(it.healthcareServiceId) ?? true),
    ),
  findAppointments: (appointments, careUnit, ids) =>
    appointments.every((it) => ids.includes(it.id) && isAt(it, careUnit)),
  listAppointments: (appointments, { careUnit, patientId, resourceId }) =>
    appointments.every(
      (it) =>
        isAt(it, careUnit) &&
        (patientId === undefined || it.patientId === patientId) &&
        (resourceId === undefined || it.resourceId === resourceId),
    ),
  changeAppointments: (appointments, { careUnit, changes }) =>
    appointments.length === changes.length &&
    appointments.every(
      (it, index) => isAt(it, careUnit) && isOfChange(it, changes[index] as AppointmentChange, connector.capabilities),
    ),
  listMedicalNotes: (notes, { patientId }) => notes.every((it) => isOf(it, patientId)),
  findMedicalNote: (note, _, patientId, id) => note === null || (isOf(note, patientId) && note.id === id),
  createMedicalNote: (note, { patientId }) => isOf(note, patientId),
  listDocuments: (documents, { patientId }) => documents.every((it) => isOf(it, patientId)),
  findDocument: (document, _, patientId, id) => document === null || (isOf(document, patientId) && document.id === id),
  createDocument: (document, { patientId }) => isOf(document, patientId),
  listSchedules: (schedules, { resourceId }) => schedules.every((it) => isSchedule(it, resourceId)),
  findSchedule: (schedule, _, resourceId, id) => schedule === null || isSchedule(schedule, resourceId, id),
  createSchedule: (schedule, { resourceId }) => isSchedule(schedule, resourceId),
  endSchedule: (schedule, { resourceId, scheduleId }) => isSchedule(schedule, resourceId, scheduleId),
  addScheduleException: (schedule, { resourceId, scheduleId }) => isSchedule(schedule, resourceId, scheduleId),
});

/**
 * A connector whose results are compared with what it is asked for: a faulty EHR, proxy or connector may answer with the
 * record of another patient. The gateway and the conformance kit call every connector through this. A wrong result becomes a
 * ConnectorError: `rejected`, or `outcome_unknown` for a write, because it says nothing about what was written.
 */
export function withRightAnswers(connector: Connector): Connector {
  const rules = rulesFor(connector);
  /** What was made of a function, because each call of the gateway asks for one. */
  const known = new Map<string | symbol, { readonly member: unknown; readonly compared: unknown }>();
  return new Proxy(connector, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const made = known.get(name);
      if (made?.member === member) return made.compared;
      const call = (...input: unknown[]): unknown => Reflect.apply(member, target, input);
      const rule: unknown = Reflect.get(rules, name);
      const compared = isRule(rule) ? checked(name as ConnectorOperation, rule, call) : call;
      known.set(name, { member, compared });
      return compared;
    },
  });
}

/** Loosely typed, because the mapped types do not work with a union of operations. */
type Rule = (result: unknown, ...input: unknown[]) => boolean;

function isRule(value: unknown): value is Rule {
  return typeof value === 'function';
}

function checked(name: ConnectorOperation, isRight: Rule, call: (...input: unknown[]) => unknown) {
  return async (...input: unknown[]): Promise<unknown> => {
    const result = await call(...input);
    // A plug-in in JavaScript may return nothing for `null`.
    if (result !== undefined && !isRight(result, ...input)) throw wrongAnswer(name);
    return result;
  };
}

function wrongAnswer(operation: ConnectorOperation): ConnectorError {
  const isWrite = (writeOperations as readonly ConnectorOperation[]).includes(operation);
  const wayOut = operation === 'changeAppointments' ? '. If the EHR moves to a new id, claim movesToNewId' : '';
  const wrong = 'another record, or one without an id';
  const words = `The result of the connector's ${operation} is not what was asked for: ${wrong}${wayOut}`;
  return new ConnectorError(isWrite ? 'outcome_unknown' : 'rejected', words);
}

function isFoundBy(patient: Patient, identifier: Identifier<string>): boolean {
  if (patient.id === '') return false;
  return has(patient, identifier) || (patient.replaces ?? []).some((it) => isSame(it, identifier));
}

/** The `emr_id` is the id. */
function has(
  { id, identifiers }: { readonly id: string; readonly identifiers: readonly Identifier<string>[] },
  identifier: Identifier<string>,
): boolean {
  if (identifier.type === 'emr_id') return id === identifier.value;
  return identifiers.some((it) => isSame(it, identifier));
}

function isSame(a: Identifier<string>, b: Identifier<string>): boolean {
  return a.type === b.type && a.value === b.value;
}

function isAt(appointment: Appointment, careUnit: CareUnit): boolean {
  return appointment.id !== '' && appointment.careUnitId === careUnit.id;
}

/** A move can give a new id, to an appointment of the same patient: that is not known here. */
function isOfChange(
  { id, patientId }: Appointment,
  change: AppointmentChange,
  claims: Capabilities | undefined,
): boolean {
  if (change.kind === 'create') return patientId === change.patientId;
  const isMove = change.kind === 'update' && (change.time !== undefined || change.resourceId !== undefined);
  return (id === change.appointmentId) !== (isMove && (claims?.movesToNewId ?? false));
}

function isOf(record: { readonly id: string; readonly patientId: string }, patientId: string): boolean {
  return record.id !== '' && record.patientId === patientId;
}

function isSchedule(
  schedule: { readonly id: string; readonly resourceId: string },
  resourceId: string,
  id: string = schedule.id,
): boolean {
  return schedule.id !== '' && schedule.id === id && schedule.resourceId === resourceId;
}
