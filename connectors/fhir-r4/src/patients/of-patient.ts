import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import type { FhirPatient } from '../fhir.ts';
import { readGroupId } from '../mappers/group.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isFhirId, patientOf } from './patients.ts';

/**
 * The connection for calls that concern one patient: with the header that names the patient by a number, if the setting
 * `patient_header` wants one. The number is kept for seconds, in memory.
 *
 * @throws ConnectorError `patient_not_found`; `rejected` for a patient without such a number
 */
export async function ofPatient<Connection extends FhirConnection>(
  ehr: Connection,
  patientId: string,
): Promise<Connection> {
  const { patient_header: header } = ehr.settings;
  if (!header) return ehr;
  const number = ehr.patientNumbers.take(patientId) ?? (await readNumber(ehr, patientId, header.identifier_type));
  ehr.patientNumbers.put(patientId, number);
  return { ...ehr, client: ehr.client.ofPatient({ [header.name.toLowerCase()]: number }) };
}

/** `null`: the EHR has no such patient. */
export async function ofKnownPatient<Connection extends FhirConnection>(
  ehr: Connection,
  patientId: string | undefined,
): Promise<Connection | null> {
  if (!ehr.settings.patient_header) return ehr;
  if (patientId === undefined) return null;
  try {
    return await ofPatient(ehr, patientId);
  } catch (error) {
    if (error instanceof ConnectorError && error.kind === 'patient_not_found') return null;
    throw error;
  }
}

/**
 * For a write of one change.
 *
 * @throws ConnectorError `appointment_not_found` for an appointment id without a patient whom the EHR has
 */
export async function ofPatientIn<Connection extends FhirConnection>(
  ehr: Connection,
  { changes }: AppointmentWrite,
): Promise<Connection> {
  const [change] = changes;
  if (!ehr.settings.patient_header || !change) return ehr;
  if (change.kind === 'create') return ofPatient(ehr, change.patientId);
  const own = await ofKnownPatient(ehr, readGroupId(change.appointmentId).patientId);
  if (own) return own;
  throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
}

async function readNumber(ehr: FhirConnection, patientId: string, type: string): Promise<string> {
  const patient = isFhirId(patientId) ? await ehr.client.read<FhirPatient>(`Patient/${patientId}`) : null;
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const number = patientOf(ehr, patient).identifiers.find((it) => it.type === type)?.value;
  if (number !== undefined) return number;
  throw new ConnectorError('rejected', `The EHR wants a ${type} in each call, and the patient has none`);
}
