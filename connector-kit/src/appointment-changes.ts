import type { Appointment, CareUnit } from './records.ts';

/** Which changes to return. */
export interface AppointmentChangesQuery {
  /** The care units of the connection. */
  readonly careUnits: readonly CareUnit[];
  /** `next` of the previous call. Absent: from now on. */
  readonly after?: string | undefined;
  /** Maximum number of changes, roughly. */
  readonly limit: number;
}

/** An appointment that was booked, changed or cancelled, as it is now. A deleted one is `cancelled`. */
export interface ChangedAppointment {
  readonly appointment: Appointment;
  /** When the EHR last changed it, by the EHR's clock. */
  readonly changedAt: Date;
  /** When it was booked in the EHR, by the EHR's clock. Absent: not known. */
  readonly createdAt?: Date;
}

/** A page of changes, and the position after it. */
export interface AppointmentChanges {
  /**
   * The oldest change first. An appointment that changed several times need not appear several times. One that several care units
   * show appears once for each of them.
   */
  readonly changes: readonly ChangedAppointment[];
  /**
   * Ids of changed appointments that no care unit shows, for example because staff have taken out the patient, the resource or
   * the time. May contain ids of appointments that no care unit has ever shown. Absent: none.
   */
  readonly hidden?: readonly string[];
  /** Where the next call continues. An opaque text without personal data, as small as possible: it is stored after each call. */
  readonly next: string;
  /** Whether further changes can be read at once. */
  readonly hasMore: boolean;
  /** Time of the oldest change that the EHR has stored but cannot return yet. Absent: there is none. */
  readonly heldBackSince?: Date;
}

/** Reports which appointments have changed, through the gateway or directly in the EHR. */
export interface AppointmentChangeOperations {
  /**
   * The appointments that have changed since an earlier call, through the gateway or directly in the EHR. No change may be
   * missed: when in doubt, the connector returns an appointment again. It may also return appointments of which only other
   * data has changed.
   */
  listAppointmentChanges(query: AppointmentChangesQuery): Promise<AppointmentChanges>;
}
