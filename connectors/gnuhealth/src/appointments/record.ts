import type { Appointment, AppointmentState, Attendance, Modality, TimeSlot } from '@crossward/connector-kit';
import { type Standings, standingIn } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import type { Domain, Page, RpcClient, Search } from '../rpc/client.ts';
import { idSchema, nullable, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc } from '../rpc/values.ts';
import { defaultMinutes, type GnuHealthSettings } from '../settings.ts';
import type { CareUnitNames } from './care-unit-names.ts';

export const model = 'gnuhealth.appointment';

/** A row of `gnuhealth.appointment`: an appointment, or a free time. */
const appointmentSchema = Type.Object({
  id: idSchema,
  /** Such as `APP 2026/7`. A free time that was an appointment once keeps it. */
  name: textSchema,
  state: textSchema,
  patient: nullable(idSchema),
  healthprof: nullable(idSchema),
  speciality: nullable(idSchema),
  institution: nullable(idSchema),
  appointment_date: nullable(dateTimeSchema),
  appointment_date_end: nullable(dateTimeSchema),
  appointment_type: textSchema,
  comments: textSchema,
  /** `null`: it was imported past Tryton. Then nothing tells whether somebody has changed it. */
  create_date: nullable(dateTimeSchema),
  _timestamp: textSchema,
});
export type AppointmentRow = Readonly<Static<typeof appointmentSchema>>;

/** A row with a time. */
export interface DatedRow extends AppointmentRow {
  readonly start: Date;
  readonly end: Date;
}

/** A row with a professional and a time. */
export interface TimedRow extends DatedRow {
  readonly healthprof: number;
}

type Order = Pick<Search<typeof appointmentSchema>, 'order'>;

/** Rows that cannot be read are left out. */
export function searchRows(rpc: RpcClient, domain: Domain): Promise<readonly AppointmentRow[]> {
  return rpc.searchRead({ model, row: appointmentSchema, domain });
}

/** Rows of which each is needed. @throws ConnectorError `rejected` if one cannot be read */
export function searchAllRows(rpc: RpcClient, domain: Domain): Promise<readonly AppointmentRow[]> {
  return rpc.searchAll({ model, row: appointmentSchema, domain });
}

export function searchRowPage(
  rpc: RpcClient,
  domain: Domain,
  paging: Order & { readonly limit: number },
): Promise<Page<AppointmentRow>> {
  return rpc.searchPage({ model, row: appointmentSchema, domain, ...paging });
}

/** `null`: the row has no time. */
export function dated(
  row: AppointmentRow,
  { minutes_without_end = defaultMinutes }: GnuHealthSettings,
): DatedRow | null {
  const { appointment_date, appointment_date_end } = row;
  if (appointment_date === null) return null;
  const start = fromRpc(appointment_date);
  const given = appointment_date_end && fromRpc(appointment_date_end);
  const end = given && given > start ? given : new Date(start.getTime() + minutes_without_end * 60_000);
  return { ...row, start, end };
}

/** `null`: the row has no professional or no time. */
export function timed(row: AppointmentRow, settings: GnuHealthSettings): TimedRow | null {
  const found = dated(row, settings);
  return found && isTimed(found) ? found : null;
}

export function isTimed(row: DatedRow): row is TimedRow {
  return row.healthprof !== null;
}

const standings: Standings = {
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

/** `null`: a free time, or a row that is not complete. */
export function toAppointment(
  row: AppointmentRow,
  known: CareUnitNames,
  settings: GnuHealthSettings,
): Appointment | null {
  const found = dated(row, settings);
  const standing = standingIn(standings, row.state ?? '');
  if (!found || !standing || row.patient === null) return null;
  return {
    id: String(row.id),
    ...standing,
    heldUntil: null,
    start: found.start,
    end: found.end,
    comment: row.comments || null,
    patientId: String(row.patient),
    // Staff need enter neither, and can enter those of other institutions.
    resourceId: listedId(row.healthprof, 'resource', known),
    resourceName: row.healthprof === null ? null : known.nameOf(row.healthprof),
    healthcareServiceId: listedId(row.speciality, 'service', known),
    careUnitId: known.careUnitId,
    modality: modalityOf(row, settings),
  };
}

function listedId(id: number | null, kind: 'resource' | 'service', known: CareUnitNames): string | null {
  return id !== null && known.has(kind, String(id)) ? String(id) : null;
}

/** `null`: nobody could book it, because it has no speciality, or nothing that tells whether somebody else was faster. */
export function toTimeSlot(row: TimedRow, settings: GnuHealthSettings): TimeSlot | null {
  if (row.speciality === null || row._timestamp === null) return null;
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
