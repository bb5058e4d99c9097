import type { Attendance } from '@crossward/connector-kit';

/** An appointment in the EHR. An expired hold stays `held` until it is cancelled. */
export interface EhrAppointment {
  readonly id: string;
  readonly patientId: string;
  readonly resourceId: string;
  readonly state: 'booked' | 'held' | 'cancelled';
  readonly heldUntil: Date | null;
  readonly start: Date;
  readonly end: Date;
}

/** Direct access to the EHR of a connection, as its own staff has. */
export interface Ehr {
  appointments(): Promise<readonly EhrAppointment[]>;
  /** All data that a write can change, for comparisons. */
  everything(): Promise<unknown>;
  /** Moves an appointment back by a number of days. */
  moveBack(appointmentId: string, days: number): Promise<void>;
  /** Changes the comment. */
  comment(appointmentId: string, comment: string): Promise<void>;
  /** Cancels an appointment and frees its time. */
  cancel(appointmentId: string): Promise<void>;
  /** Notes the attendance of the patient. */
  attend(appointmentId: string, attendance: Attendance): Promise<void>;
  /** Turns an appointment into a hold, or changes its expiry time. */
  hold(appointmentId: string, until: Date): Promise<void>;
  /** Adds all-day consultation slots to a room, for twelve days from today. */
  openAroundTheClock(room: string, slotMinutes: number): Promise<void>;
}
