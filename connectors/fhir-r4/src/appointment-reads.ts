import {
  type Appointment,
  type AppointmentPosition,
  type AppointmentQuery,
  type CareUnit,
  overlaps,
} from '@crossward/connector-kit';
import type { SearchParameters } from './client.ts';
import type { FhirConnection } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import { compare, type FhirAppointment } from './fhir.ts';
import { type AppointmentIds, toAppointment } from './mappers/appointment.ts';
import { patientViews, readGroupId, viewOf } from './mappers/group.ts';
import { isFhirId } from './patients.ts';
import { recordsOf } from './replaced-patients.ts';
import { resourceReference } from './resource-id.ts';
import { defaultPageSize } from './settings.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** With more actors than this, the search does not filter by actor, and its result is filtered here. */
const mostActors = 40;

export async function findAppointments(
  ehr: FhirConnection,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const [directory, found] = await Promise.all([ehr.directory.of(careUnit), readAppointments(ehr, ids)]);
  return toAppointments(ehr, directory, found, ids);
}

/** The appointments with these ids that belong to the care unit. Several ids may name one resource. */
export function toAppointments(
  { dialect, client }: FhirConnection,
  directory: CareUnitDirectory,
  found: readonly FhirAppointment[],
  ids: readonly string[],
): readonly Appointment[] {
  return ids.flatMap((id) => {
    const resource = found.find((it) => it.id === readGroupId(id).id);
    const view = resource && viewOf(resource, id);
    return (view && toAppointment({ ...view, id }, directory, dialect, client.clock)) ?? [];
  });
}

export function readAppointments({ client }: FhirConnection, ids: readonly string[]): Promise<FhirAppointment[]> {
  const resourceIds = ids.map((id) => readGroupId(id).id).filter(isFhirId);
  return client.readMany<FhirAppointment>(resourceIds.map((id) => `Appointment/${id}`));
}

export async function listAppointments(ehr: FhirConnection, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const directory = await ehr.directory.of(query.careUnit);
  const actors = actorsOf(directory, query);
  if (actors?.length === 0 || (query.patientId !== undefined && !isFhirId(query.patientId))) return [];
  const patients = query.patientId === undefined ? [] : await recordsOf(ehr, query.patientId);
  const ids = idsFor(directory, query);
  const found = new Map<string, Appointment>();
  let sorted = true;
  let reached = Number.NEGATIVE_INFINITY;
  for await (const page of ehr.client.pages('Appointment', searchParameters(query, patients, actors))) {
    sorted &&= page.sorted;
    for (const resource of page.resources as readonly FhirAppointment[]) {
      const start = new Date(resource.start ?? '').getTime();
      if (start < reached) sorted = false;
      reached = Math.max(reached, Number.isNaN(start) ? reached : start);
      for (const view of patientViews(resource)) {
        const mapped = toAppointment(view, ids, ehr.dialect, ehr.client.clock);
        const appointment = mapped && ofCurrentRecord(mapped, query, patients);
        if (appointment && isWanted(appointment, query)) found.set(appointment.id, appointment);
      }
    }
    // The next page may have more appointments with the last start.
    const complete = [...found.values()].filter(({ start }) => start.getTime() < reached).length;
    if (sorted && complete >= query.limit) break;
  }
  return [...found.values()].sort(byPosition).slice(0, query.limit);
}

/** An appointment of several resources is listed for each of them, with the resource of the query. */
function idsFor(directory: CareUnitDirectory, { resourceId }: AppointmentQuery): AppointmentIds {
  if (resourceId === undefined) return directory;
  return {
    ...directory,
    resourceOf: (appointment) => directory.resourcesOf(appointment).find((id) => id === resourceId),
  };
}

/** An appointment that names a record that the patient's current one has replaced is listed for the current one. */
function ofCurrentRecord(
  appointment: Appointment,
  { patientId }: AppointmentQuery,
  records: readonly string[],
): Appointment {
  return patientId !== undefined && records.includes(appointment.patientId)
    ? { ...appointment, patientId }
    : appointment;
}

/** `undefined`: the search names no actor. */
function actorsOf(directory: CareUnitDirectory, { resourceId, patientId }: AppointmentQuery): string[] | undefined {
  if (resourceId !== undefined) {
    const names = directory.namesOf(resourceId);
    // A former resource may still have appointments.
    return names.length > 0 ? [...names] : [resourceReference(resourceId) ?? []].flat();
  }
  // A patient has few appointments, and they may name a practitioner by a role.
  if (patientId !== undefined) return undefined;
  const all = [...new Set([...directory.knownIds.flatMap((id) => directory.namesOf(id)), ...directory.placeNames])];
  return all.length > mostActors ? undefined : all;
}

/** @param patients the ids of the patient's records. Empty: of all patients */
function searchParameters(
  { range, after }: AppointmentQuery,
  patients: readonly string[],
  actors: readonly string[] | undefined,
): SearchParameters {
  const patient = patients.map((it) => `Patient/${it}`).join(',');
  // `date` is the start. No appointment is expected to be longer than a day.
  const earliest = range ? range.start.getTime() - dayMilliseconds : undefined;
  const from = Math.max(earliest ?? Number.NEGATIVE_INFINITY, after?.start.getTime() ?? Number.NEGATIVE_INFINITY);
  return [
    ...(patient === '' ? [] : [['patient', patient] as const]),
    ...(actors === undefined ? [] : [['actor', actors.join(',')] as const]),
    ...(Number.isFinite(from) ? [['date', `ge${new Date(from).toISOString()}`] as const] : []),
    ...(range ? [['date', `lt${range.end.toISOString()}`] as const] : []),
    ['_sort', 'date'],
    ['_count', String(defaultPageSize)],
  ];
}

function isWanted(
  appointment: Appointment,
  { patientId, resourceId, range, states, after }: AppointmentQuery,
): boolean {
  if (patientId !== undefined && appointment.patientId !== patientId) return false;
  if (resourceId !== undefined && appointment.resourceId !== resourceId) return false;
  if (range && !overlaps(appointment, range)) return false;
  if (states && states.length > 0 && !states.includes(appointment.state)) return false;
  return after === undefined || byPosition(appointment, after) > 0;
}

function byPosition(a: AppointmentPosition, b: AppointmentPosition): number {
  return a.start.getTime() - b.start.getTime() || compare(a.id, b.id);
}
