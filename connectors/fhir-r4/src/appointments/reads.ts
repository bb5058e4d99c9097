import {
  type Appointment,
  type AppointmentPosition,
  type AppointmentQuery,
  type CareUnit,
  ConnectorError,
  identifierTypes,
  overlaps,
  spellingsOf,
} from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { compare, type FhirAppointment, type FhirPatient } from '../fhir.ts';
import { type AppointmentIds, isStartUnreadable, toAppointment } from '../mappers/appointment.ts';
import { patientViews, readGroupId, viewOf } from '../mappers/group.ts';
import { escapeToken, identifierTokens, knownNumbers } from '../mappers/identifiers.ts';
import { readInstant } from '../mappers/instants.ts';
import { resourceReference } from '../mappers/resource.ts';
import { ofKnownPatient } from '../patients/of-patient.ts';
import { isFhirId } from '../patients/patients.ts';
import { recordsOf } from '../patients/replaced.ts';
import type { SearchParameters } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultPageSize } from '../settings.ts';
import { completed } from './completion.ts';
import { searchAppointments, type WantedAppointments } from './searches.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

export async function findAppointments(
  ehr: FhirConnection,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const [directory, found] = await Promise.all([ehr.directory.of(careUnit), readAppointments(ehr, ids)]);
  return toAppointments(ehr, directory, found, ids);
}

/**
 * The appointments with these ids that belong to the care unit. Several ids may name one resource.
 *
 * @throws ConnectorError `rejected` if one has a start that cannot be read: it is not gone
 */
export async function toAppointments(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  found: readonly FhirAppointment[],
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const whole = await completed(ehr, directory, found);
  const isId = (id: string) => !ehr.dialect.idsNamePatients || readGroupId(id).patientId !== undefined;
  return ids.filter(isId).flatMap((id) => {
    const resource = whole.find((it) => it.id === readGroupId(id).id);
    const view = resource && viewOf(resource, id);
    if (view && isStartUnreadable(view)) {
      throw new ConnectorError('rejected', 'The EHR sent an Appointment that cannot be read, at /start');
    }
    return (view && toAppointment({ ...view, id }, directory, ehr.dialect, ehr.client.clock)) ?? [];
  });
}

export async function readAppointments(ehr: FhirConnection, ids: readonly string[]): Promise<FhirAppointment[]> {
  const named = ids.map(readGroupId).filter(({ id }) => isFhirId(id));
  const read = ({ client }: FhirConnection, some: typeof named) =>
    client.readMany<FhirAppointment>(some.map(({ id }) => `Appointment/${id}`));
  if (!ehr.dialect.idsNamePatients) return read(ehr, named);
  const byPatient = [...Map.groupBy(named, (it) => it.patientId)];
  const found = byPatient.map(async ([patientId, some]) => {
    const own = await ofKnownPatient(ehr, patientId);
    return own ? read(own, some) : [];
  });
  return (await Promise.all(found)).flat();
}

export async function listAppointments(ehr: FhirConnection, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId } = query;
  if (ehr.settings.patient_header && patientId === undefined) {
    throw new ConnectorError('unsupported', 'This EHR lists the appointments of one patient at a time');
  }
  const own = patientId === undefined ? ehr : await ofKnownPatient(ehr, patientId);
  return own ? listThem(own, query) : [];
}

async function listThem(ehr: FhirConnection, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const directory = await ehr.directory.of(query.careUnit);
  const { patientId } = query;
  const actors = patientId === undefined ? actorsOf(directory, query) : [];
  if (patientId === undefined ? actors.length === 0 : !isFhirId(patientId)) return [];
  const records = patientId === undefined ? [] : await recordsOf(ehr, patientId);
  const ids = idsFor(directory, query);
  const patients = records.map((it) => `Patient/${it}`);
  const search = (who: Pick<WantedAppointments, 'patients' | 'actors' | 'numbers'>) =>
    searchAppointments(ehr.client.habits, { ...wanted(query), ...who }, (parameters) =>
      collect(ehr, directory, { parameters, limit: query.limit }, (view) => {
        const mapped = toAppointment(view, ids, ehr.dialect, ehr.client.clock);
        const appointment = mapped && ofCurrentRecord(mapped, query, records);
        return appointment && isWanted(appointment, query) ? appointment : null;
      }),
    );
  const numbers = await numbersOf(ehr, patients);
  const found = await Promise.all([search({ patients, actors }), ...(numbers ? [search({ numbers })] : [])]);
  const each = new Map(found.flat(2).map((it) => [it.id, it]));
  return [...each.values()].sort(byPosition).slice(0, query.limit);
}

/**
 * The numbers of a patient, for Appointments that name the patient by one and by no reference. Only with the setting, because
 * few servers have such Appointments: https://hl7.org/fhir/R4/references.html#logical
 */
async function numbersOf(
  { client, settings, systems }: FhirConnection,
  patients: readonly string[],
): Promise<WantedAppointments['numbers']> {
  const of = settings.patient_identifier_search;
  if (of === undefined || patients.length === 0) return undefined;
  const records = await client.readAllowed<FhirPatient>(patients);
  const types = identifierTypes().map((it) => it.id);
  const tokens = records.flatMap(({ identifier = [], birthDate }) => [
    ...identifier.flatMap(({ system, value }) =>
      system && value ? [`${escapeToken(system)}|${escapeToken(value)}`] : [],
    ),
    ...knownNumbers(systems, types, identifier, birthDate).flatMap((it) =>
      identifierTokens(systems, it.type, spellingsOf(it)).flat(),
    ),
  ]);
  return tokens.length > 0 ? { of, tokens: [...new Set(tokens)] } : undefined;
}

/** The first `limit` appointments of a search at least, by their start. */
async function collect(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { parameters, limit }: { readonly parameters: SearchParameters; readonly limit: number },
  read: (view: FhirAppointment) => Appointment | null,
): Promise<Appointment[]> {
  const found = new Map<string, Appointment>();
  let sorted = true;
  let reached = Number.NEGATIVE_INFINITY;
  for await (const page of ehr.client.pages('Appointment', parameters)) {
    sorted &&= page.sorted;
    for (const resource of await completed(ehr, directory, page.resources as readonly FhirAppointment[])) {
      const start = readInstant(resource.start)?.getTime() ?? Number.NaN;
      if (isStartUnreadable(resource)) ehr.leftOut({ type: 'Appointment', id: resource.id, path: '/start' });
      if (start < reached) sorted = false;
      reached = Math.max(reached, Number.isNaN(start) ? reached : start);
      for (const view of patientViews(resource)) {
        const appointment = read(view);
        if (appointment) found.set(appointment.id, appointment);
      }
    }
    // The next page may have more appointments with the last start.
    const complete = [...found.values()].filter(({ start }) => start.getTime() < reached).length;
    if (sorted && complete >= limit) break;
  }
  return [...found.values()];
}

/** An appointment of several resources is listed for each of them, with the resource of the query. */
function idsFor(directory: CareUnitDirectory, { resourceId }: AppointmentQuery): AppointmentIds {
  if (resourceId === undefined) return directory;
  return {
    ...directory,
    placeOf(appointment) {
      const place = directory.placeOf(appointment);
      const isNamed = directory.resourcesOf(appointment).includes(resourceId);
      return place && isNamed && place.resourceId !== resourceId ? { resourceId, resourceName: null } : place;
    },
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

/** Everybody whose appointments may be wanted. */
function actorsOf(directory: CareUnitDirectory, { resourceId }: AppointmentQuery): readonly string[] {
  if (resourceId !== undefined) {
    const names = directory.namesOf(resourceId);
    // A former resource may still have appointments.
    return names.length > 0 ? [...names] : [resourceReference(resourceId) ?? []].flat();
  }
  return [...new Set([...directory.knownIds.flatMap((id) => directory.namesOf(id)), ...directory.placeNames])];
}

function wanted({ range, after }: AppointmentQuery): WantedAppointments {
  // `date` is the start. No appointment is expected to be longer than a day.
  const earliest = range ? range.start.getTime() - dayMilliseconds : undefined;
  const from = Math.max(earliest ?? Number.NEGATIVE_INFINITY, after?.start.getTime() ?? Number.NEGATIVE_INFINITY);
  return {
    from: Number.isFinite(from) ? new Date(from) : undefined,
    before: range?.end,
    others: [
      ['_sort', 'date'],
      ['_count', String(defaultPageSize)],
    ],
  };
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
