import { type Attendance, attendances } from '@crossward/connector-kit';
import type { Appointment, AppointmentParticipant, Extension, Reference } from '@medplum/fhirtypes';
import type { AppointmentBody, AppointmentStatus } from '../../appointments/contract.ts';
import type { ClientIdentifier } from '../../appointments/identified/store.ts';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import { emrIdOf, fhirIdOf, type PatientNames, scheduleId, slotId, toFhirId, versionOf } from '../ids.ts';
import { urls } from '../urls.ts';
import { type BookableType, careUnitReference, deliveryChannel, namedReference, toServiceType } from './resource.ts';

/** What an Appointment says of other records. */
export interface AppointmentNames {
  readonly careUnit: CareUnitConnection;
  readonly patients: PatientNames;
  /** `undefined`: it is not known, because the EHR does not respond. */
  typeOf(resourceId: string): BookableType | undefined;
  /** `undefined`: as of a service. */
  nameOfResource(id: string): string | undefined;
  /** `undefined`: the caller may not know it, or the EHR does not respond. */
  nameOfService(id: string): string | undefined;
  /** What the client calls appointments, by their native ids. Read for those that are shown. */
  readonly identifiers: Map<string, readonly ClientIdentifier[]>;
}

/** https://hl7.org/fhir/R4/valueset-appointmentstatus.html: `pending`, not all participants have accepted. */
const fhirStatus = {
  booked: 'booked',
  awaiting_confirmation: 'pending',
  cancelled: 'cancelled',
} as const satisfies Record<AppointmentStatus, Appointment['status']>;

const attendedStatus = {
  arrived: 'arrived',
  completed: 'fulfilled',
  no_show: 'noshow',
} as const satisfies Record<Attendance, Appointment['status']>;

/** The status in FHIR, which also says whether the patient came. Of who did not, some EHRs keep a cancelled appointment. */
export function statusOf({ status, attendance }: Pick<Content, 'status' | 'attendance'>): Appointment['status'] {
  const isAttended = status === 'booked' || (status === 'cancelled' && attendance === 'no_show');
  return attendance && isAttended ? attendedStatus[attendance] : fhirStatus[status];
}

/** The native statuses that can be shown as one of these in FHIR. */
export function nativeStatuses(shownAs: readonly string[]): AppointmentStatus[] {
  const all = Object.keys(fhirStatus) as AppointmentStatus[];
  const possible = [null, ...attendances].map((attendance) => ({ attendance }));
  return all.filter((status) => possible.some((it) => shownAs.includes(statusOf({ status, ...it }) ?? '')));
}

/**
 * A native appointment in FHIR. A two-step cancellation is shown as the appointment that it would cancel.
 *
 * @returns `undefined` if its id or its patient's is too long to be named
 */
export function toAppointment(body: AppointmentBody, named: AppointmentNames): Appointment | undefined {
  const appointment = shown(body);
  const id = toFhirId(appointment.id);
  const patient = named.patients.fhirIdOf(body.patient_id);
  if (id === undefined || patient === undefined) return undefined;
  const { resourceType, extension, ...rest } = appointmentContent(appointment, named);
  const meta = { versionId: versionOfAppointment(appointment) };
  const identifier = named.identifiers.get(appointment.id)?.map((it) => ({ ...it }));
  return { resourceType, id, meta, ...(extension && { extension }), ...(identifier && { identifier }), ...rest };
}

/** A fixed order of elements and participants: a JSON Patch names them by their place. */
export function appointmentContent(body: Content, named: AppointmentNames): Appointment {
  const { careUnit } = named;
  const extension = extensionsOf(body);
  const { healthcare_service_id: service } = body;
  const slot = slotOf(body);
  return {
    resourceType: 'Appointment',
    ...(extension.length > 0 ? { extension } : {}),
    status: statusOf(body),
    ...(service === null ? {} : { serviceType: [toServiceType(service, named.nameOfService(service))] }),
    start: body.start,
    ...(body.end === null ? unknownEnd : endingAt(body.start, body.end)),
    ...(slot ? { slot: [slot] } : {}),
    ...(body.comment ? { comment: body.comment } : {}),
    ...(body.notice ? { patientInstruction: body.notice } : {}),
    participant: [
      participant(patientOf(body, named), body.status === 'awaiting_confirmation' ? 'needs-action' : 'accepted'),
      ...resourceParticipant(body, named),
      ...serviceParticipant(body, named),
      participant(careUnitReference(careUnit)),
    ],
  };
}

/** With a start there must be an end (constraint app-2): https://hl7.org/fhir/R4/extension-data-absent-reason.html */
const unknownEnd = {
  _end: {
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
  },
};

/** Without the duration if it has a part of a minute. */
function endingAt(start: string, end: string): Pick<Appointment, 'end' | 'minutesDuration'> {
  const minutes = (Date.parse(end) - Date.parse(start)) / 60_000;
  return { end, ...(Number.isInteger(minutes) ? { minutesDuration: minutes } : {}) };
}

/** An appointment that may have no id yet. */
type Content = Omit<AppointmentBody, 'id' | 'confirmation'> & {
  readonly confirmation: { readonly [Name in keyof NonNullable<AppointmentBody['confirmation']>]: unknown } | null;
};

/** The version: what the EHR keeps, whoever asks, and however. */
export function versionOfAppointment(body: AppointmentBody): string {
  const { id, status, attendance, start, end, comment, patient_id, resource_id, healthcare_service_id } = shown(body);
  const state = attendance ?? status;
  return versionOf(id, state, start, end, comment || null, patient_id, resource_id, healthcare_service_id);
}

/** A cancellation that awaits its code leaves the appointment booked. */
function shown(body: AppointmentBody): AppointmentBody {
  if (body.replaces_id === null) return body;
  return { ...body, id: body.replaces_id, status: body.status === 'cancelled' ? 'cancelled' : 'booked' };
}

/** Whether the appointment is a two-step cancellation, which is no Appointment of its own. */
export function isCancellation({ replaces_id }: AppointmentBody): boolean {
  return replaces_id !== null;
}

/** Without a reference if FHIR cannot name the patient: two people never share one. */
function patientOf({ patient_id }: Content, { patients }: AppointmentNames): Reference {
  const id = patients.fhirIdOf(patient_id);
  return id === undefined ? { type: 'Patient' } : { reference: `Patient/${id}` };
}

/** None if the EHR says nothing about the resource. */
function resourceParticipant(
  { resource_id, resource_name }: Content,
  named: AppointmentNames,
): AppointmentParticipant[] {
  if (resource_id === null) return resource_name ? [participant({ display: resource_name })] : [];
  const type = named.typeOf(resource_id);
  const id = fhirIdOf(resource_id);
  const name = named.nameOfResource(resource_id) ?? resource_name ?? undefined;
  if (type !== undefined && id !== undefined) return [participant(namedReference(`${type}/${id}`, name))];
  const { reference: _, ...display } = namedReference('', name);
  return [participant({ identifier: { system: urls.resources, value: emrIdOf(resource_id) }, ...display })];
}

function serviceParticipant(
  { healthcare_service_id: service }: Content,
  named: AppointmentNames,
): AppointmentParticipant[] {
  const id = service === null ? undefined : toFhirId(service);
  if (service === null || id === undefined) return [];
  return [participant(namedReference(`HealthcareService/${id}`, named.nameOfService(service)))];
}

function participant(actor: Reference, status: AppointmentParticipant['status'] = 'accepted'): AppointmentParticipant {
  return { actor: actor as NonNullable<AppointmentParticipant['actor']>, status };
}

/** `undefined`: the EHR does not say all that names a Slot. */
function slotOf({ resource_id, healthcare_service_id, start, end }: Content): { reference: string } | undefined {
  if (resource_id === null || healthcare_service_id === null || end === null) return undefined;
  const schedule = scheduleId(emrIdOf(resource_id), healthcare_service_id);
  const times = { start: new Date(start), end: new Date(end) };
  return { reference: `Slot/${slotId({ scheduleId: schedule, ...times })}` };
}

function extensionsOf({ confirmation, replaces_id, supersedes_id, modality }: Content): Extension[] {
  const former = supersedes_id === null ? undefined : toFhirId(supersedes_id);
  return [
    ...(confirmation ? [confirmationExtension(confirmation, replaces_id)] : []),
    ...(former === undefined ? [] : [{ url: urls.replaces, valueReference: { reference: `Appointment/${former}` } }]),
    ...(deliveryChannel(modality).extension ?? []),
  ];
}

/** The code that is awaited. */
function confirmationExtension(
  confirmation: NonNullable<Content['confirmation']>,
  replacesId: string | null,
): Extension {
  const { id, kind, channel, delivery, expires_at, attempts_remaining, page_url } = confirmation;
  const parts: (Extension | undefined)[] = [
    text('id', id),
    text('kind', kind),
    text('channel', channel),
    text('delivery', delivery),
    { url: 'attemptsRemaining', valueInteger: Number(attempts_remaining) },
    expires_at === null ? undefined : { url: 'expiresAt', valueInstant: String(expires_at) },
    page_url === null ? undefined : { url: 'pageUrl', valueUrl: String(page_url) },
    replacesId === null ? undefined : text('cancels', replacesId),
  ];
  return { url: urls.confirmation, extension: parts.filter((it) => it !== undefined) };
}

function text(url: string, value: unknown): Extension | undefined {
  return value === null ? undefined : { url, valueString: String(value) };
}
