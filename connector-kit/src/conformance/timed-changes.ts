import type { Appointment } from '../records.ts';

/** Changes by staff that are hard to tell by their time stamps. Each is absent if the EHR cannot be brought to it. */
export interface TimedChanges {
  /** Changes the comments of all these appointments at one and the same time. */
  commentAtOnce?(appointments: readonly Appointment[], text: string): Promise<void>;
  /**
   * Begins to change the comment of an appointment. The EHR shows the change when the returned function is called, and says that it
   * was made when it began, as databases do.
   */
  commentLate?(appointment: Appointment, text: string): Promise<() => Promise<void>>;
}

/** A transaction that takes so long ends after those that began later. */
const lateMilliseconds = 1000;

/** In an EHR whose records can be written with any time stamp. */
export function timedChanges(
  write: (appointment: Appointment, text: string, at: Date) => void,
): Required<TimedChanges> {
  return {
    async commentAtOnce(appointments, text) {
      const at = new Date();
      for (const it of appointments) write(it, text, at);
    },
    async commentLate(appointment, text) {
      const at = new Date(Date.now() - lateMilliseconds);
      return async () => write(appointment, text, at);
    },
  };
}
