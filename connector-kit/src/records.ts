import { ConnectorError } from './errors.ts';
import type { PatientIdentifier, ResourceIdentifier } from './identifiers.ts';

/** A clinic or department of the EHR, with its time zone. Defined in the configuration, not in the EHR. */
export interface CareUnit {
  readonly id: string;
  /** IANA time zone, such as `Europe/Oslo`. Local times of schedules are read in it. */
  readonly timeZone: string;
}

/** A postal address. */
export interface Address {
  readonly lines: readonly string[];
  readonly postalCode: string | null;
  readonly city: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
}

/** FHIR administrative-gender: https://hl7.org/fhir/R4/valueset-administrative-gender.html */
export const genders = ['male', 'female', 'other', 'unknown'] as const;
export type Gender = (typeof genders)[number];

/** A patient belongs to the EHR, not to one care unit. */
export interface Patient {
  readonly id: string;
  /** All known identifiers, `emr_id` first. */
  readonly identifiers: readonly PatientIdentifier[];
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** ISO 8601 calendar date. */
  readonly birthDate: string | null;
  readonly gender: Gender | null;
  /** E.164, such as `+4790000001`. */
  readonly phone: string | null;
  /** Digits, such as `0701740605`. Set if `phone` is null because the EHR has a number without its country code. */
  readonly nationalPhone?: string;
  /**
   * All numbers, the best first, if there are several and the first has no country code: E.164, or digits. The gateway takes the
   * first that can be reached, in the care unit's country if need be.
   */
  readonly phones?: readonly string[];
  readonly email: string | null;
  readonly address: Address | null;
  /** Set if nothing can be booked: the record is out of use, or says that the patient has died. */
  readonly isInactive?: true;
  /**
   * Identifiers of records that this one has replaced, if it was found by one of them. The gateway rejects a patient who
   * has the identifier that was asked for neither here nor in `identifiers`.
   */
  readonly replaces?: readonly PatientIdentifier[];
}

/** What a caller tells about a patient with a booking. Never logged, and stored encrypted only. */
export interface PatientDetails {
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** E.164. */
  readonly phone: string | null;
  readonly email: string | null;
}

/** The kinds of resource. */
export const resourceKinds = ['practitioner', 'room', 'device'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** A practitioner, room or device that can be booked. Belongs to one care unit. */
export interface Resource {
  readonly id: string;
  readonly identifiers: readonly ResourceIdentifier[];
  readonly kind: ResourceKind;
  readonly name: string;
  readonly healthcareServiceIds: readonly string[];
}

/** A code of a system, such as SNOMED CT. A Coding in FHIR. */
export interface Code {
  /** The URI of the system. `null`: the EHR does not say. */
  readonly system: string | null;
  readonly code: string;
  readonly display: string | null;
}

/** What an appointment is for, such as a consultation. */
export interface HealthcareService {
  readonly id: string;
  readonly name: string;
  /** What the service means, in codes that other EHRs may have too. Absent: the EHR has none. */
  readonly codes?: readonly Code[];
  /** For information only. The time slots determine the length of a booking. */
  readonly durationMinutes: number | null;
}

/** How the patient and the resource meet. */
export const modalities = ['in_person', 'phone', 'video'] as const;
export type Modality = (typeof modalities)[number];

/** Whether a plug-in returned a modality of the port, or none. */
export function isModality(value: unknown): boolean {
  return value === null || value === undefined || modalities.some((it) => it === value);
}

/** What the EHR knows about the attendance of a patient. */
export const attendances = ['arrived', 'completed', 'no_show'] as const;
export type Attendance = (typeof attendances)[number];

/** Whether a plug-in returned an attendance of the port, or none. */
export function isAttendance(value: unknown): boolean {
  return value === null || value === undefined || attendances.some((it) => it === value);
}

/** A free time of a resource. `start` is inclusive, `end` is exclusive. */
export interface TimeSlot {
  readonly start: Date;
  readonly end: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  /** `null` or absent: not known. */
  readonly modality?: Modality | null | undefined;
}

/**
 * The state of an appointment in the EHR.
 *
 * - `booked`: booked, arrived, checked in, fulfilled
 * - `held`: the time is held until `heldUntil` while a code is awaited
 * - `pending`: proposed, pending or on a waiting list, and not held by the gateway
 * - `cancelled`: cancelled, no-show, entered in error, or an expired hold
 */
export const appointmentStates = ['booked', 'held', 'pending', 'cancelled'] as const;
export type AppointmentState = (typeof appointmentStates)[number];

/**
 * An appointment of one patient with one resource. `start` is inclusive, `end` is exclusive. An EHR may not say everything: an
 * appointment is returned whenever it has a patient and a start.
 */
export interface Appointment {
  readonly id: string;
  readonly state: AppointmentState;
  /** Expiry time by the EHR's clock. Set while `state` is `held`. */
  readonly heldUntil: Date | null;
  /** Whether the patient has arrived, or the visit is over: it can be neither moved nor cancelled. Absent: no. */
  readonly hasStarted?: boolean;
  readonly start: Date;
  /** From the record, else from its duration, that of its slot or that of its service. `null`: none of them is known. */
  readonly end: Date | null;
  readonly comment: string | null;
  readonly patientId: string;
  /** `null`: the EHR names no resource of the care unit that has an id. */
  readonly resourceId: string | null;
  /** The name that the record shows for the resource. `null` or absent: none. */
  readonly resourceName?: string | null | undefined;
  /** `null`: the record names none of the care unit's services. A connector never guesses one. */
  readonly healthcareServiceId: string | null;
  readonly careUnitId: string;
  /**
   * What staff have noted. The state stays as above: `arrived` (the patient is there, or checked in) and `completed` (the visit
   * is over) are `booked`, `no_show` is `cancelled`. `null` or absent: nothing is known.
   */
  readonly attendance?: Attendance | null | undefined;
  /** `null` or absent: not known. */
  readonly modality?: Modality | null | undefined;
  /**
   * In the result of a change: what the EHR asks to tell the person about it, such as "Come fasting". Shown in the response
   * and nowhere else, up to 500 characters. Absent in everything that is read.
   */
  readonly notice?: string | null | undefined;
}

/** An appointment about which the EHR says all that a move needs. */
export interface CompleteAppointment extends Appointment {
  readonly end: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
}

export function isComplete<Some extends Appointment>(appointment: Some): appointment is Some & CompleteAppointment {
  const { end, resourceId, healthcareServiceId } = appointment;
  return end !== null && resourceId !== null && healthcareServiceId !== null;
}

/** @throws ConnectorError `change_not_allowed` if the EHR does not say enough about an appointment that is to be moved */
export function assertComplete<Some extends Appointment>(appointment: Some): Some & CompleteAppointment {
  if (isComplete(appointment)) return appointment;
  throw new ConnectorError(
    'change_not_allowed',
    'The EHR does not name the end, resource or service of the appointment',
  );
}
