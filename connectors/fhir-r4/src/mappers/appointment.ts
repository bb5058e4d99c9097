import type { Appointment, AppointmentState, Attendance, HealthcareService } from '@crossward/connector-kit';
import { fhirStandings, standingIn } from '@crossward/connector-kit/rest';
import type { Extension, FhirAppointment, Participant } from '../fhir.ts';
import { localReference } from '../fhir.ts';
import type { EhrClock } from '../server/clock.ts';
import type { FhirSettings } from '../settings.ts';
import { idWithPatient } from './group.ts';
import { readInstant } from './instants.ts';

export type CommentField = NonNullable<NonNullable<FhirSettings['booking']>['comment_field']>;

/** Where an Appointment has the comment. */
export interface CommentPlace {
  readonly commentField: CommentField;
  /** The URL of the extension that has it instead. */
  readonly commentExtension?: string | undefined;
}

/** Choices that FHIR leaves to the EHR. */
export interface AppointmentDialect extends CommentPlace {
  readonly cancelReason: 'comment' | 'cancelationReason';
  /** Whether every id has the form `<id>_<patient id>`, because the server wants to know the patient before it reads. */
  readonly idsNamePatients?: boolean;
}

/** The extension for the end of a hold. */
const heldUntilUrl = 'urn:crossward:held-until';

/** The status with which staff note an attendance. */
export const attendanceStatuses: Readonly<Record<Attendance, string>> = {
  arrived: 'arrived',
  completed: 'fulfilled',
  no_show: 'noshow',
};

export function hasStarted({ status = '' }: FhirAppointment): boolean {
  return standingIn(fhirStandings, status)?.hasStarted ?? false;
}

/** The state of an Appointment at a time of the EHR's clock. */
export interface Standing {
  readonly state: AppointmentState;
  readonly heldUntil: Date | null;
  /** Whether it is an expired hold of the gateway that is still `pending` in the EHR. */
  readonly hasExpired: boolean;
}

export function standingOf(appointment: FhirAppointment, now: Date): Standing {
  const { state } = standingIn(fhirStandings, appointment.status ?? '') ?? { state: 'pending' };
  const heldUntil = heldUntilOf(appointment);
  if (state !== 'pending' || heldUntil === null) return { state, heldUntil: null, hasExpired: false };
  if (heldUntil <= now) return { state: 'cancelled', heldUntil: null, hasExpired: true };
  return { state: 'held', heldUntil, hasExpired: false };
}

/** The end of a hold, even if the appointment is no longer held. */
export function heldUntilOf({ extension }: FhirAppointment): Date | null {
  const until = extension?.find(({ url }) => url === heldUntilUrl)?.valueInstant;
  return readInstant(until) ?? null;
}

/** Whether an appointment still needs the slots that it names. */
export function keepsSlots(appointment: FhirAppointment, now: Date): boolean {
  return standingOf(appointment, now).state !== 'cancelled';
}

/** `null`: the record does not say when it starts or ends, for example on a waiting list. */
export function appointmentTime(appointment: FhirAppointment): { readonly start: Date; readonly end: Date } | null {
  const start = startOf(appointment);
  const end = start && endOf(appointment, start);
  return start && end ? { start, end } : null;
}

function startOf({ start }: FhirAppointment): Date | null {
  return readInstant(start) ?? null;
}

/** Whether there is a start that says no instant. An Appointment without a start can be on a waiting list. */
export function isStartUnreadable({ start }: FhirAppointment): boolean {
  return start !== undefined && readInstant(start) === undefined;
}

/** Some EHRs write `minutesDuration` and no `end`, and some an end that is the start. `null`: the record does not say it. */
function endOf({ end, minutesDuration = 0 }: FhirAppointment, start: Date): Date | null {
  const at = readInstant(end);
  if (at && at > start) return at;
  return minutesDuration > 0 ? new Date(start.getTime() + minutesDuration * 60_000) : null;
}

/** Those who take part, and behind them those who have declined. */
export function actorsOf(appointment: FhirAppointment): string[] {
  return participantsOf(appointment).flatMap(({ actor }) => localReference(actor) ?? []);
}

export function participantsOf({ participant = [] }: FhirAppointment): readonly Participant[] {
  const hasDeclined = ({ status }: Participant) => status === 'declined';
  return [...participant.filter((it) => !hasDeclined(it)), ...participant.filter(hasDeclined)];
}

export function patientIdOf(appointment: FhirAppointment): string | undefined {
  return actorsOf(appointment)
    .find((reference) => reference.startsWith('Patient/'))
    ?.slice('Patient/'.length);
}

export function slotsOf(appointment: FhirAppointment): string[] {
  return (appointment.slot ?? []).flatMap((reference) => localReference(reference) ?? []);
}

function commentOf(appointment: FhirAppointment, dialect: AppointmentDialect): string | null {
  const reason = dialect.cancelReason === 'cancelationReason' ? appointment.cancelationReason?.text : undefined;
  return reason ?? commentIn(appointment, dialect) ?? null;
}

/** The comment, where staff have not given a reason of a cancellation instead. */
export function commentIn(
  { extension = [], ...appointment }: FhirAppointment,
  { commentField, commentExtension }: CommentPlace,
): string | undefined {
  if (commentExtension === undefined) return appointment[commentField];
  return extension.find(({ url }) => url === commentExtension)?.valueString;
}

/** The resource of an appointment, as far as the EHR names it. */
export interface AppointmentPlace {
  readonly resourceId: string | null;
  /** The name that the record shows. */
  readonly resourceName: string | null;
}

/** The ids of a care unit, and of its resource and service that an appointment names. */
export interface AppointmentIds {
  readonly careUnitId: string;
  /** `undefined`: the appointment belongs to another care unit. */
  placeOf(appointment: FhirAppointment): AppointmentPlace | undefined;
  /** `undefined`: it names none of the care unit's services. */
  serviceOf(appointment: FhirAppointment): Pick<HealthcareService, 'id' | 'durationMinutes'> | undefined;
}

/** `null` for an appointment of another care unit, or without a start or a patient. */
export function toAppointment(
  resource: FhirAppointment,
  ids: AppointmentIds,
  dialect: AppointmentDialect,
  clock: EhrClock,
): Appointment | null {
  const start = startOf(resource);
  const patientId = patientIdOf(resource);
  const place = ids.placeOf(resource);
  if (!start || patientId === undefined || !place) return null;
  const service = ids.serviceOf(resource);
  const minutes = service?.durationMinutes ?? null;
  const { state, heldUntil } = standingOf(resource, clock.now());
  return {
    id: dialect.idsNamePatients ? idWithPatient(resource.id ?? '', patientId) : (resource.id ?? ''),
    state,
    heldUntil: heldUntil && clock.fromEhr(heldUntil),
    ...(hasStarted(resource) ? { hasStarted: true } : {}),
    start,
    end: endOf(resource, start) ?? (minutes === null ? null : new Date(start.getTime() + minutes * 60_000)),
    comment: commentOf(resource, dialect),
    patientId,
    ...place,
    healthcareServiceId: service?.id ?? null,
    careUnitId: ids.careUnitId,
    attendance: standingIn(fhirStandings, resource.status ?? '')?.attendance ?? null,
  };
}

/** Sets the comment. `null` removes it; `undefined` leaves it. */
export function withComment(
  appointment: FhirAppointment,
  { commentField, commentExtension: url }: CommentPlace,
  comment: string | null | undefined,
): FhirAppointment {
  if (comment === undefined) return appointment;
  if (url !== undefined) return withExtension(appointment, url, comment === null ? {} : { valueString: comment });
  const { [commentField]: _, ...rest } = appointment;
  return comment === null ? rest : { ...rest, [commentField]: comment };
}

export function withHold(appointment: FhirAppointment, until: Date | null): FhirAppointment {
  return withExtension(appointment, heldUntilUrl, until ? { valueInstant: until.toISOString() } : {});
}

/** @param value an empty object: the extension is removed */
function withExtension(appointment: FhirAppointment, url: string, value: Omit<Extension, 'url'>): FhirAppointment {
  const { extension: _, ...rest } = appointment;
  const others: Extension[] = (appointment.extension ?? []).filter((it) => it.url !== url);
  if (Object.keys(value).length > 0) others.push({ url, ...value });
  return others.length > 0 ? { ...rest, extension: others } : rest;
}
