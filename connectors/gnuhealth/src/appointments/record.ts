import type { Appointment, Modality, TimeSlot } from '@crossward/connector-kit';
import { required, standingIn } from '@crossward/connector-kit/rest';
import { type At, namesOfProfessionals } from '../ehr.ts';
import { equal } from '../rpc/client.ts';
import { recordId } from '../rpc/values.ts';
import type { GnuHealthSettings } from '../settings.ts';
import { type AppointmentRow, dated, searchAllRows, type TimedRow } from './rows.ts';
import { standings } from './states.ts';

/** What appointments of a care unit can name. */
export interface CareUnitNames {
  has(kind: 'resource' | 'service', id: number): boolean;
  /** Of health professionals who are no resource of the care unit, too. `null`: it is not known. */
  nameOf(healthprof: number): string | null;
}

/** Of professionals and specialities that are not listed, it asks once more: staff may have entered them a moment ago. */
export async function careUnitNames(at: At, rows: readonly AppointmentRow[]): Promise<CareUnitNames> {
  const professionals = idsIn(rows.map(({ healthprof }) => healthprof));
  const specialities = idsIn(rows.map(({ speciality }) => speciality));
  const complete = await at.lists.find((it) => {
    const knows = (ids: readonly number[], listed: readonly { readonly id: string }[]) =>
      ids.every((id) => listed.some((one) => one.id === String(id)));
    return knows(professionals, it.resources) && knows(specialities, it.services) ? it : undefined;
  });
  const { resources, services } = complete ?? (await at.lists.get());
  const names = new Map(resources.map(({ id, name }) => [Number(id), name]));
  const others = await namesOfProfessionals(
    at.client,
    professionals.filter((id) => !names.has(id)),
  );
  const listed = { resource: new Set(names.keys()), service: new Set(services.map(({ id }) => Number(id))) };
  return {
    has: (kind, id) => listed[kind].has(id),
    nameOf: (id) => names.get(id) ?? others.get(id) ?? null,
  };
}

function idsIn(ids: readonly (number | null)[]): readonly number[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}

/** `null`: a free time, or a row that is not complete. */
export function toAppointment(
  { careUnit, settings }: At,
  known: CareUnitNames,
  row: AppointmentRow,
): Appointment | null {
  const { healthprof, speciality } = row;
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
    resourceId: healthprof !== null && known.has('resource', healthprof) ? String(healthprof) : null,
    resourceName: healthprof === null ? null : known.nameOf(healthprof),
    healthcareServiceId: speciality !== null && known.has('service', speciality) ? String(speciality) : null,
    careUnitId: careUnit.id,
    modality: modalityOf(row, settings),
  };
}

/** `null`: nobody could book it, because it has no speciality, or nothing that tells whether somebody else was faster. */
export function toTimeSlot(row: TimedRow, settings: GnuHealthSettings): TimeSlot | null {
  const { start, end, healthprof, speciality, _timestamp } = row;
  if (speciality === null || _timestamp === null) return null;
  const ids = { resourceId: String(healthprof), healthcareServiceId: String(speciality) };
  return { start, end, ...ids, modality: modalityOf(row, settings) };
}

/** GNU Health does not tell a call from a video. */
function modalityOf({ appointment_type }: AppointmentRow, { telemedicine }: GnuHealthSettings): Modality | null {
  if (appointment_type === null) return null;
  return appointment_type === 'telemedicine' ? (telemedicine ?? null) : 'in_person';
}

/** @throws ConnectorError `appointment_not_found` */
export async function appointmentRow(at: At, appointmentId: string) {
  const id = recordId(appointmentId);
  const domain = equal({ id, institution: at.unit.institution });
  const [found] = id === undefined ? [] : await searchAllRows(at.client, domain);
  const row = required(found && dated(found, at.settings), 'appointment_not_found');
  const appointment = required(toAppointment(at, await careUnitNames(at, [row]), row), 'appointment_not_found');
  return { row, appointment, patient: Number(appointment.patientId) };
}
