import { ConnectorError } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import {
  type CodeableConcept,
  type FhirAppointment,
  type FhirResource,
  type FhirSlot,
  localReference,
  type Parameters,
  typeOf,
} from '../fhir.ts';
import { findProposals } from '../found-slots.ts';
import { type AppointmentDialect, actorsOf, appointmentTime, patientIdOf } from '../mappers/appointment.ts';
import { appointmentsIn } from './operation-answers.ts';

type Parameter = Parameters['parameter'][number];

/** What shall be booked or held. */
export interface Wanted {
  readonly appointment: FhirAppointment;
  /** Whom it is with: `Practitioner/1`. */
  readonly actor: string | undefined;
  /** `Patient/1` */
  readonly patient: string;
  /** Those that the appointment is planned on. */
  readonly slots: readonly FhirSlot[];
  readonly comment: string | undefined;
  /** `Appointment/1`, whose time counts as free. */
  readonly ignoring?: string | undefined;
}

/** What an appointment itself says of what is wanted. */
export function wordsOf(
  appointment: FhirAppointment,
  { commentField }: AppointmentDialect,
): Pick<Wanted, 'appointment' | 'patient' | 'comment'> {
  return { appointment, patient: `Patient/${patientIdOf(appointment)}`, comment: appointment[commentField] };
}

export interface OperationCall {
  readonly path: string;
  readonly parameter: readonly Parameter[];
}

/** How one kind of server words its scheduling operations. */
export interface OperationForm {
  /** What the server proposes around the time. `null`: its `$book` takes an appointment that nobody has proposed. */
  readonly propose: ((ehr: FhirConnection, wanted: Wanted) => Promise<readonly FhirAppointment[]>) | null;
  /** Of a proposal, where there is one. */
  book(ehr: FhirConnection, chosen: FhirAppointment, wanted: Wanted): Promise<OperationCall>;
  /** `null`: it knows no hold. */
  readonly hold: {
    take(chosen: FhirAppointment): OperationCall;
    confirm(ehr: FhirConnection, held: FhirAppointment, wanted: Wanted): Promise<OperationCall>;
  } | null;
  /** Moves what is booked, under the id that it has, its own time counting as free. `null`: it knows no such operation. */
  readonly move: ((booked: FhirAppointment, start: string, schedule: string) => OperationCall) | null;
  /** Cancels without an update of the Appointment, whatever version it has. `null`: it knows no such operation. */
  readonly cancel: ((cancelled: FhirAppointment) => OperationCall) | null;
  /** Whether `$book` and `$hold` keep what the appointment says besides, such as an identifier of ours. */
  readonly takesAppointment: boolean;
  /**
   * Whether booking makes a Slot of its own for the appointment, which goes when it is cancelled. Free times then are
   * what `$find` proposes, each booked by itself.
   */
  readonly makesSlots: boolean;
}

const book = 'Appointment/$book';
const hold = 'Appointment/$hold';

/** https://profiles.ihe.net/ITI/Scheduling/ (ITI-115, ITI-116, ITI-117) */
const ihe: OperationForm = {
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (reference) => ({ valueReference: { reference } })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueReference: { reference: wanted.patient } },
    ]),
  book: bookByReference,
  hold: {
    take: (chosen) => ({ path: hold, parameter: [appointmentReference(chosen)] }),
    confirm: bookByReference,
  },
  // By `$book` of a changed appointment, but that heeds no version: what others have changed would be overwritten.
  move: null,
  cancel: (cancelled) => ({ path: book, parameter: [{ name: 'appointment-resource', resource: cancelled }] }),
  takesAppointment: false,
  makesSlots: false,
};

async function bookByReference(ehr: FhirConnection, chosen: FhirAppointment, wanted: Wanted): Promise<OperationCall> {
  const patient = await ehr.client.read<FhirResource>(wanted.patient);
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const parameter = [appointmentReference(chosen), { name: 'patient-resource', resource: patient }];
  return { path: book, parameter: [...parameter, ...comment(wanted, 'comment')] };
}

function appointmentReference({ id }: FhirAppointment): Parameter {
  return { name: 'appointment-reference', valueReference: { reference: `Appointment/${id}` } };
}

/** https://fhir.org/guides/argonaut/scheduling/ */
const argonaut: OperationForm = {
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (valueUri) => ({ valueUri })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueUri: wanted.patient },
    ]),
  book: bookById,
  hold: {
    take: (chosen) => ({ path: hold, parameter: [{ name: 'appt-id', valueUri: `Appointment/${chosen.id}` }] }),
    confirm: bookById,
  },
  move: null,
  cancel: null,
  takesAppointment: false,
  makesSlots: false,
};

async function bookById(_: FhirConnection, chosen: FhirAppointment, wanted: Wanted): Promise<OperationCall> {
  return {
    path: book,
    parameter: [
      { name: 'appt-id', valueUri: `Appointment/${chosen.id}` },
      { name: 'patient-id', valueUri: wanted.patient },
      ...comment(wanted, 'comment'),
    ],
  };
}

/** Epic's own names, from before R4: https://fhir.epic.com/Specifications (Appointment.$find, Appointment.$book, STU3) */
const epic: OperationForm = {
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'startTime', 'endTime'),
      ...(wanted.appointment.serviceType ?? []).map((type) => ({ name: 'service-type', valueCodeableConcept: type })),
    ]),
  book: async (_, chosen, wanted) => ({
    path: book,
    parameter: [
      { name: 'patient', valueIdentifier: { value: wanted.patient.slice('Patient/'.length) } },
      { name: 'appointment', valueIdentifier: { value: chosen.id } },
      ...comment(wanted, 'appointmentNote'),
    ],
  }),
  hold: null,
  move: null,
  cancel: null,
  takesAppointment: false,
  makesSlots: false,
};

/** The whole appointment, `proposed`: gematik ISiK, https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook */
const resource: OperationForm = {
  propose: null,
  book: async (_, chosen) => ({
    path: book,
    parameter: [{ name: 'appt-resource', resource: { ...chosen, status: 'proposed' } }],
  }),
  hold: null,
  move: null,
  cancel: null,
  takesAppointment: true,
  makesSlots: false,
};

const serviceReferenceUrl = 'https://medplum.com/fhir/service-type-reference';

/** https://www.medplum.com/docs/scheduling: the proposal of `$find` with what we add, `$confirm` for a hold, `$reschedule` */
const medplum: OperationForm = {
  async propose(ehr, { appointment, slots, ignoring }) {
    const [slot, another] = slots;
    const schedule = localReference(slot?.schedule);
    const service = serviceIn(appointment);
    const time = appointmentTime(appointment);
    if (another || schedule === undefined || service === undefined || !time) return [];
    const found = await findProposals(ehr, { schedule, service, ...time, ignoring });
    return found.map((it) => withServiceReference(it, service));
  },
  book: async (_, chosen) => ({ path: book, parameter: [{ name: 'appointment', resource: chosen }] }),
  hold: {
    take: (chosen) => ({ path: hold, parameter: [{ name: 'appointment', resource: chosen }] }),
    confirm: async (_, { id }) => ({ path: `Appointment/${id}/$confirm`, parameter: [] }),
  },
  move: ({ id }, start, schedule) => ({
    path: `Appointment/${id}/$reschedule`,
    parameter: [
      { name: 'start', valueDateTime: start },
      { name: 'schedule', valueReference: { reference: schedule } },
    ],
  }),
  // `$cancel` heeds no version either: what somebody else has just confirmed could be cancelled.
  cancel: null,
  takesAppointment: true,
  makesSlots: true,
};

/** `HealthcareService/1`: as Medplum writes it, or as a participant, as we do. */
function serviceIn(appointment: FhirAppointment): string | undefined {
  const extensions = (appointment.serviceType ?? []).flatMap(({ extension }) => extension ?? []);
  const extension = extensions.find(({ url }) => url === serviceReferenceUrl);
  return (
    localReference(extension?.valueReference) ??
    actorsOf(appointment).find((actor) => typeOf(actor) === 'HealthcareService')
  );
}

/** What `$book` asks for, and what not every `$find` answers. */
function withServiceReference(appointment: FhirAppointment, reference: string): FhirAppointment {
  if (serviceIn(appointment) !== undefined) return appointment;
  const [first = {}, ...others] = appointment.serviceType ?? [];
  const extension = [...(first.extension ?? []), { url: serviceReferenceUrl, valueReference: { reference } }];
  return { ...appointment, serviceType: [{ ...first, extension }, ...others] };
}

export const operationForms = { ihe, argonaut, epic, resource, medplum } as const;

async function proposals(ehr: FhirConnection, parameter: readonly Parameter[]): Promise<readonly FhirAppointment[]> {
  const answer = await ehr.client.operation('Appointment/$find', { resourceType: 'Parameters', parameter });
  if (!answer.ok) throw answer.refusal ?? new ConnectorError('rejected', 'The EHR proposed nothing');
  return appointmentsIn(answer.body);
}

function range({ appointment: { start, end } }: Wanted, startName: string, endName: string): Parameter[] {
  return [
    { name: startName, valueDateTime: start },
    { name: endName, valueDateTime: end },
  ];
}

/** Devices cannot be named: they are looked for in the answer. */
function actorParameter({ actor }: Wanted, value: (reference: string) => object): Parameter[] {
  const names: Readonly<Record<string, string>> = { Practitioner: 'practitioner', Location: 'location-reference' };
  const name = actor === undefined ? undefined : names[typeOf(actor)];
  return actor === undefined || name === undefined ? [] : [{ name, ...value(actor) }];
}

/** Tokens with both system and code. */
function visitTypes({ appointment }: Wanted): Parameter[] {
  return (appointment.serviceType ?? [])
    .flatMap(({ coding }: CodeableConcept) => coding ?? [])
    .filter(({ system, code }) => system !== undefined && code !== undefined)
    .map(({ system, code }) => ({ name: 'visit-type', valueString: `${system}|${code}` }));
}

function comment({ comment: text }: Wanted, name: string): Parameter[] {
  return text === undefined ? [] : [{ name, valueString: text }];
}
