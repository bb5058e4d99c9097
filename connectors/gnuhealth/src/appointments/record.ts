import type { Appointment, AppointmentState, Attendance, Modality, TimeSlot } from '@crossward/connector-kit';
import type { Domain, RpcClient } from '../rpc/client.ts';
import { fromRpc, type RpcDateTime } from '../rpc/values.ts';
import { defaultMinutes, type GnuHealthSettings } from '../settings.ts';

export const model = 'gnuhealth.appointment';

/** A row of `gnuhealth.appointment`: an appointment, or a free time. */
export interface AppointmentRow {
  readonly id: number;
  /** Such as `APP 2026/7`. A free time that was an appointment once keeps it. */
  readonly name: string | null;
  readonly state: string | null;
  readonly patient: number | null;
  readonly healthprof: number | null;
  readonly speciality: number | null;
  readonly institution: number | null;
  readonly appointment_date: RpcDateTime | null;
  readonly appointment_date_end: RpcDateTime | null;
  readonly appointment_type: string | null;
  readonly comments: string | null;
  readonly create_date: RpcDateTime;
  readonly _timestamp: string;
}

const fields = [
  'name',
  'state',
  'patient',
  'healthprof',
  'speciality',
  'institution',
  'appointment_date',
  'appointment_date_end',
  'appointment_type',
  'comments',
  'create_date',
  '_timestamp',
] as const satisfies readonly (keyof AppointmentRow)[];

/** A row with a professional and a time. */
export interface TimedRow extends AppointmentRow {
  readonly healthprof: number;
  readonly start: Date;
  readonly end: Date;
}

export function searchRows(
  rpc: RpcClient,
  domain: Domain,
  paging: { readonly order?: readonly (readonly [string, 'ASC' | 'DESC'])[]; readonly limit?: number } = {},
): Promise<readonly AppointmentRow[]> {
  return rpc.searchRead<AppointmentRow>({ model, domain, fields, ...paging });
}

/** `null`: the row has no professional or no time. */
export function timed(
  row: AppointmentRow,
  { minutes_without_end = defaultMinutes }: GnuHealthSettings,
): TimedRow | null {
  const { healthprof, appointment_date, appointment_date_end } = row;
  if (healthprof === null || appointment_date === null) return null;
  const start = fromRpc(appointment_date);
  const given = appointment_date_end && fromRpc(appointment_date_end);
  const end = given && given > start ? given : new Date(start.getTime() + minutes_without_end * 60_000);
  return { ...row, healthprof, start, end };
}

const states: Readonly<Record<string, AppointmentState>> = {
  confirmed: 'booked',
  checked_in: 'booked',
  done: 'booked',
  user_cancelled: 'cancelled',
  center_cancelled: 'cancelled',
  no_show: 'cancelled',
};

const attendances: Readonly<Record<string, Attendance>> = {
  checked_in: 'arrived',
  done: 'completed',
  no_show: 'no_show',
};

/** The state with which staff note an attendance. */
export const attendanceStates: Readonly<Record<Attendance, string>> = {
  arrived: 'checked_in',
  completed: 'done',
  no_show: 'no_show',
};

/** The states in which an appointment takes its time. */
export const takingStates = Object.keys(states).filter((name) => states[name] === 'booked');

/** The states in the EHR of an appointment in these states. */
export function statesFor(wanted: readonly AppointmentState[]): string[] {
  return Object.keys(states).filter((name) => wanted.includes(states[name] as AppointmentState));
}

/** `null`: a free time, or a row that is not complete. */
export function toAppointment(
  row: AppointmentRow,
  careUnitId: string,
  settings: GnuHealthSettings,
): Appointment | null {
  const found = timed(row, settings);
  const state = states[row.state ?? ''];
  if (!found || state === undefined || row.patient === null) return null;
  return {
    id: String(row.id),
    state,
    heldUntil: null,
    ...(row.state === 'checked_in' || row.state === 'done' ? { hasStarted: true } : {}),
    start: found.start,
    end: found.end,
    comment: row.comments || null,
    patientId: String(row.patient),
    resourceId: String(found.healthprof),
    // Staff need not enter a speciality.
    healthcareServiceId: row.speciality === null ? '' : String(row.speciality),
    careUnitId,
    attendance: attendances[row.state ?? ''] ?? null,
    modality: modalityOf(row, settings),
  };
}

/** `null`: nobody could book it, because it has no speciality. */
export function toTimeSlot(row: TimedRow, settings: GnuHealthSettings): TimeSlot | null {
  if (row.speciality === null) return null;
  return {
    start: row.start,
    end: row.end,
    resourceId: String(row.healthprof),
    healthcareServiceId: String(row.speciality),
    modality: modalityOf(row, settings),
  };
}

/** GNU Health does not tell a call from a video. */
function modalityOf({ appointment_type }: AppointmentRow, { telemedicine }: GnuHealthSettings): Modality | null {
  if (appointment_type === null) return null;
  return appointment_type === 'telemedicine' ? (telemedicine ?? null) : 'in_person';
}
