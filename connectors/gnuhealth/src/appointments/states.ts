import type { AppointmentState, Attendance } from '@crossward/connector-kit';
import type { Standings } from '@crossward/connector-kit/rest';

export const standings: Standings = {
  confirmed: ['booked', null],
  checked_in: ['booked', 'arrived'],
  done: ['booked', 'completed'],
  user_cancelled: ['cancelled', null],
  center_cancelled: ['cancelled', null],
  no_show: ['cancelled', 'no_show'],
};

/** The state with which staff note an attendance. */
export const attendanceStates: Readonly<Record<Attendance, string>> = {
  arrived: 'checked_in',
  completed: 'done',
  no_show: 'no_show',
};

/** The states in which an appointment takes its time. */
export const takingStates = statesFor(['booked']);

/** The states in the EHR of an appointment in these states. */
export function statesFor(wanted: readonly AppointmentState[]): string[] {
  return Object.entries(standings).flatMap(([name, [state]]) => (wanted.includes(state) ? [name] : []));
}
