import type { Appointment, AppointmentState, Attendance } from '../records.ts';

/** What each status of an EHR means: the state of the appointment, and what it says of the attendance. */
export type Standings = Readonly<Record<string, readonly [AppointmentState, Attendance | null]>>;

type Standing = Required<Pick<Appointment, 'state' | 'hasStarted'>> & { readonly attendance: Attendance | null };

/** What a status means. `undefined`: the table does not have it. */
export function standingIn(standings: Standings, status: string): Standing | undefined {
  const [state, attendance = null] = Object.hasOwn(standings, status) ? (standings[status] ?? []) : [];
  return state && { state, attendance, hasStarted: attendance === 'arrived' || attendance === 'completed' };
}
