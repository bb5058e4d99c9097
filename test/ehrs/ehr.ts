/** An appointment as the EHR has it. A hold that has run out is `held` until somebody sweeps it. */
export interface EhrAppointment {
  readonly id: string;
  readonly patientId: string;
  readonly resourceId: string;
  readonly state: 'booked' | 'held' | 'cancelled';
  readonly heldUntil: Date | null;
  readonly start: Date;
  readonly end: Date;
}

/** The EHR of one connection as its own staff uses it, past the gateway. */
export interface Ehr {
  appointments(): Promise<readonly EhrAppointment[]>;
  /** Everything that a write could change. */
  everything(): Promise<unknown>;
  /** Lets an appointment be so many days earlier. */
  moveBack(appointmentId: string, days: number): Promise<void>;
  /** Changes the comment, as staff does. */
  comment(appointmentId: string, comment: string): Promise<void>;
  /** Cancels an appointment and frees its time, as staff does. */
  cancel(appointmentId: string): Promise<void>;
  /** Lets an appointment be held, or be held until another time. */
  hold(appointmentId: string, until: Date): Promise<void>;
  /** Lets a room have slots for consultations, around the clock for twelve days from today. */
  openAroundTheClock(room: string, slotMinutes: number): Promise<void>;
}
