import { type Appointment, type AppointmentQuery, type CareUnit, ConnectorError } from '@crossward/connector-kit';
import { appointmentsFor, readEach } from '@crossward/connector-kit/rest';
import { toAppointment } from './appointment.ts';
import type { GpConnectConnection } from './connection.ts';
import { type FhirAppointment, idIn, isFhirId } from './fhir.ts';
import { patientNamer } from './patient-by-number.ts';
import { isPatient } from './patients.ts';
import { SpineError } from './spine-errors.ts';
import { ukDate } from './uk-time.ts';

const day = 24 * 60 * 60 * 1000;
/** For a list without an end. Practices offer slots for some weeks. */
const farAheadDays = 730;

export async function findAppointments(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  return readEach(ids, async (id) => {
    const resource = await readAppointment(ehr, id);
    return resource && appointmentIn(ehr, careUnit, resource);
  });
}

/**
 * The appointment that was read by its id. `null`: it is one of another care unit.
 *
 * @throws ConnectorError `rejected` if it cannot be read: nobody may take it for one that is gone
 */
export async function appointmentIn(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  read: FhirAppointment,
): Promise<Appointment | null> {
  const { record, path } = toAppointment(ehr, careUnit.id, await patientNamer(ehr)(read));
  if (path === undefined) return record;
  ehr.leftOut({ type: 'Appointment', id: read.id, path });
  throw new ConnectorError('rejected', `The EHR sent an appointment that cannot be read (${path})`);
}

/** `null`: the practice has none with this id. */
export async function readAppointment({ client }: GpConnectConnection, id: string): Promise<FhirAppointment | null> {
  if (!isFhirId(id)) return null;
  try {
    const read = await client.read<FhirAppointment>('read:appointment-1', `Appointment/${id}`, 'Appointment');
    if (read.id === id) return read;
  } catch (error) {
    if (error instanceof SpineError && error.isAbsence) return null;
    throw error;
  }
  throw new ConnectorError('rejected', 'The EHR sent another appointment than the one requested');
}

/** Of one patient, from today on: GP Connect lists no others. */
export async function listAppointments(
  ehr: GpConnectConnection,
  query: AppointmentQuery,
): Promise<readonly Appointment[]> {
  const { careUnit, patientId, range } = query;
  if (patientId === undefined) {
    throw new ConnectorError('unsupported', 'GP Connect lists the appointments of one patient at a time');
  }
  const namePatient = patientNamer(ehr, patientId);
  const found: FhirAppointment[] = [];
  for (const it of await appointmentsOf(ehr, patientId, range)) found.push(await namePatient(it));
  const appointments = found.flatMap((it) => {
    const { record, path } = toAppointment(ehr, careUnit.id, it);
    if (path !== undefined) ehr.leftOut({ type: 'Appointment', id: idIn(it), path });
    return record ?? [];
  });
  return appointmentsFor(appointments, query);
}

/** None for a patient whom the practice does not have. */
async function appointmentsOf(
  { client, now }: GpConnectConnection,
  patientId: string,
  range: AppointmentQuery['range'],
): Promise<readonly FhirAppointment[]> {
  const today = ukDate(now());
  // One that began on the day before can reach into the range.
  const first = ukDate(range === undefined ? now() : new Date(range.start.getTime() - day));
  const last = ukDate(range?.end ?? new Date(now().getTime() + farAheadDays * day));
  if (!isFhirId(patientId) || last < today) return [];
  const path = `Patient/${patientId}/Appointment?start=ge${first < today ? today : first}&start=le${last}`;
  try {
    const found = await client.search('search:patient_appointments-1', path);
    return found.filter(({ resourceType }) => resourceType === 'Appointment');
  } catch (error) {
    if (!(error instanceof SpineError)) throw error;
    if (error.isAbsence || (error.isBadRequest && !(await isPatient(client, patientId)))) return [];
    throw error;
  }
}
