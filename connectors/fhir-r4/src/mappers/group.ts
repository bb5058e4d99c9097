import { type Extension, type FhirAppointment, localReference, type Participant } from '../fhir.ts';

/*
 * An Appointment of several patients is an appointment for each of them. The first patient's has the id of the
 * Appointment, so that an id stays valid when the staff add patients. The others' have `<id>_<patient id>`: `_` is in no
 * FHIR id.
 */

/** The extension of a participant that names the operation that cancelled the appointment for that patient. */
const operationUrl = 'urn:crossward:operation';

interface GroupId {
  /** The id of the Appointment resource. */
  readonly id: string;
  /** `undefined`: the first patient. */
  readonly patientId: string | undefined;
}

export function readGroupId(appointmentId: string): GroupId {
  const end = appointmentId.indexOf('_');
  if (end === -1) return { id: appointmentId, patientId: undefined };
  return { id: appointmentId.slice(0, end), patientId: appointmentId.slice(end + 1) };
}

/**
 * The Appointment as an appointment of each of its patients. It is cancelled for one who has declined, and for all if everybody
 * whom they were to meet has. The same object for an Appointment of one patient that stands.
 */
export function patientViews(appointment: FhirAppointment): readonly FhirAppointment[] {
  const patients = patientsOf(appointment);
  const isOff = isDeclinedByResources(appointment);
  const [only] = patients;
  if (patients.length < 2) return [isOff || only?.isDeclined ? { ...appointment, status: 'cancelled' } : appointment];
  return patients.map(({ patientId }, index) => {
    const own = participantOf(appointment, patientId);
    const others = (appointment.participant ?? []).filter((it) => idOf(it) === undefined);
    const isDeclined = isOff || own?.status === 'declined';
    return {
      ...appointment,
      ...(index === 0 ? {} : { id: `${appointment.id}_${patientId}` }),
      ...(isDeclined ? { status: 'cancelled' } : {}),
      participant: [{ ...own, status: isDeclined ? 'accepted' : own?.status }, ...others] as Participant[],
    };
  });
}

const metTypes = ['Practitioner', 'PractitionerRole', 'Device'];

/** Whether there are people or devices to meet, and all of them have declined. */
function isDeclinedByResources({ participant = [] }: FhirAppointment): boolean {
  const met = participant.filter(({ actor }) => metTypes.includes(localReference(actor)?.split('/')[0] ?? ''));
  return met.length > 0 && met.every(({ status }) => status === 'declined');
}

/** `undefined`: the appointment has no such patient. */
export function viewOf(appointment: FhirAppointment, appointmentId: string): FhirAppointment | undefined {
  const { patientId } = readGroupId(appointmentId);
  const views = patientViews(appointment);
  if (patientId === undefined) return views[0];
  return views[patientsOf(appointment).findIndex((it) => it.patientId === patientId)];
}

/** The id in the form that names its patient. */
export function idWithPatient(id: string, patientId: string): string {
  return readGroupId(id).patientId === undefined ? `${id}_${patientId}` : id;
}

/** The appointment of the patient whose appointment a write changed. */
export function viewAfter(appointment: FhirAppointment, operationKey: string): FhirAppointment {
  const views = patientViews(appointment);
  return (
    views.find(({ participant }) => participant?.some((it) => hasMark(it, operationKey))) ?? views[0] ?? appointment
  );
}

/** The patient of an appointment id, and whether other patients still come. */
export function patientIn(
  appointment: FhirAppointment,
  appointmentId: string,
): { readonly patientId: string; readonly hasOthers: boolean } | undefined {
  const patients = patientsOf(appointment);
  const patientId = readGroupId(appointmentId).patientId ?? patients[0]?.patientId;
  if (patientId === undefined || patients.length < 2) return undefined;
  const hasOthers = patients.some((it) => it.patientId !== patientId && !it.isDeclined);
  return { patientId, hasOthers };
}

/** Marks the patient's participant with a write, so that the write's look-up finds its patient. */
export function withMark(appointment: FhirAppointment, patientId: string, operationKey: string): FhirAppointment {
  return withParticipant(appointment, patientId, (it) => {
    if (hasMark(it, operationKey)) return it;
    const extension: Extension[] = [...(it.extension ?? []), { url: operationUrl, valueString: operationKey }];
    return { ...it, extension };
  });
}

/** https://hl7.org/fhir/R4/valueset-participationstatus.html: this patient does not come, but others do. */
export function withoutPatient(appointment: FhirAppointment, patientId: string): FhirAppointment {
  return withParticipant(appointment, patientId, (it) => ({ ...it, status: 'declined' }));
}

function withParticipant(
  appointment: FhirAppointment,
  patientId: string,
  changed: (participant: Participant) => Participant,
): FhirAppointment {
  const participant = (appointment.participant ?? []).map((it) => (idOf(it) === patientId ? changed(it) : it));
  return { ...appointment, participant };
}

function hasMark({ extension }: Participant, operationKey: string): boolean {
  return extension?.some(({ url, valueString }) => url === operationUrl && valueString === operationKey) === true;
}

function patientsOf(appointment: FhirAppointment): { readonly patientId: string; readonly isDeclined: boolean }[] {
  const ids = new Set((appointment.participant ?? []).flatMap((it) => idOf(it) ?? []));
  return [...ids].map((patientId) => ({
    patientId,
    isDeclined: participantOf(appointment, patientId)?.status === 'declined',
  }));
}

function participantOf({ participant }: FhirAppointment, patientId: string): Participant | undefined {
  return participant?.find((it) => idOf(it) === patientId);
}

/** `undefined`: not a patient. */
function idOf({ actor }: Participant): string | undefined {
  const reference = localReference(actor);
  return reference?.startsWith('Patient/') ? reference.slice('Patient/'.length) : undefined;
}
