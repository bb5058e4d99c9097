import type { Appointment, AppointmentState, Attendance } from '../records.ts';

/** What each status of an EHR means: the state of the appointment, and what it says of the attendance. */
export type Standings = Readonly<Record<string, readonly [AppointmentState, Attendance | null]>>;

type Standing = Required<Pick<Appointment, 'state' | 'hasStarted'>> & { readonly attendance: Attendance | null };

/** What a status means. `undefined`: the table does not have it. */
export function standingIn(standings: Standings, status: string): Standing | undefined {
  const [state, attendance = null] = Object.hasOwn(standings, status) ? (standings[status] ?? []) : [];
  return state && { state, attendance, hasStarted: attendance === 'arrived' || attendance === 'completed' };
}

/** https://hl7.org/fhir/R4/valueset-appointmentstatus.html, which has those of STU3 */
export const fhirStandings: Standings = {
  proposed: ['pending', null],
  pending: ['pending', null],
  waitlist: ['pending', null],
  booked: ['booked', null],
  arrived: ['booked', 'arrived'],
  'checked-in': ['booked', 'arrived'],
  fulfilled: ['booked', 'completed'],
  cancelled: ['cancelled', null],
  noshow: ['cancelled', 'no_show'],
  'entered-in-error': ['cancelled', null],
};
