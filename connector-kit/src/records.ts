import type { PatientIdentifier, ResourceIdentifier } from './identifiers.ts';

/** A place of the EHR with a clock of its own. Comes from the configuration, never from the EHR. */
export interface CareUnit {
  readonly id: string;
  /** IANA time zone, such as `Europe/Oslo`. Local times of schedules are read in it. */
  readonly timeZone: string;
}

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
  /** Every identifier known, `emr_id` first. */
  readonly identifiers: readonly PatientIdentifier[];
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** ISO 8601 calendar date. */
  readonly birthDate: string | null;
  readonly gender: Gender | null;
  /** E.164, such as `+4790000001`. */
  readonly phone: string | null;
  readonly email: string | null;
  readonly address: Address | null;
}

export const resourceKinds = ['practitioner', 'room', 'device'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Whoever or whatever an appointment is with. Belongs to one care unit. */
export interface Resource {
  readonly id: string;
  readonly identifiers: readonly ResourceIdentifier[];
  readonly kind: ResourceKind;
  readonly name: string;
  readonly healthcareServiceIds: readonly string[];
}

export interface HealthcareService {
  readonly id: string;
  readonly name: string;
  /** Informative: a booking's length follows the time slots. */
  readonly durationMinutes: number | null;
}

/** A free piece of a resource's schedule. `start` is inside, `end` is outside. */
export interface TimeSlot {
  readonly start: Date;
  readonly end: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
}

/**
 * What the EHR says of an appointment.
 *
 * - `booked`: booked, arrived, checked in, fulfilled
 * - `held`: the time is taken until `heldUntil`, waiting for a code
 * - `pending`: proposed, pending or on a waiting list without a hold of ours
 * - `cancelled`: cancelled, no-show, entered in error, or a hold whose `heldUntil` has passed
 */
export const appointmentStates = ['booked', 'held', 'pending', 'cancelled'] as const;
export type AppointmentState = (typeof appointmentStates)[number];

export interface Appointment {
  readonly id: string;
  readonly state: AppointmentState;
  /** Set while `state` is `held`, by the EHR's clock. */
  readonly heldUntil: Date | null;
  readonly start: Date;
  readonly end: Date;
  readonly comment: string | null;
  readonly patientId: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly careUnitId: string;
}
