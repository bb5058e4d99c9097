import { ConnectorError, type Patient, type PatientIdentifier } from '@crossward/connector-kit';
import type { FhirConnection } from './connection.ts';
import type { FhirPatient } from './fhir.ts';
import { identifierToken } from './identifiers.ts';
import { toPatient } from './mappers/patient.ts';

/**
 * Searches by POST, so that the number is not in the URL. Refuses several matches: choosing one could show somebody
 * else's record.
 */
export async function findPatient(ehr: FhirConnection, { type, value }: PatientIdentifier): Promise<Patient | null> {
  const mapped = (patient: FhirPatient) => toPatient(patient, ehr.systems, ehr.patientIdentifierTypes, new Date());
  if (type === 'emr_id') {
    const patient = await readPatient(ehr, value);
    return patient && mapped(patient);
  }
  const token = identifierToken(ehr.systems, { type, value });
  const post = ehr.settings.patient_search !== 'get';
  const found = await ehr.client.search<FhirPatient>('Patient', [['identifier', token]], { post });
  // A record that was merged into another one is still there, and links to it: https://hl7.org/fhir/R4/valueset-link-type.html
  const current = found.filter((it) => it.active !== false && !it.link?.some((link) => link.type === 'replaced-by'));
  // Some servers ignore a search parameter that they do not know, and return everybody.
  const matching = current
    .map(mapped)
    .filter((it) => it.identifiers.some((own) => own.type === type && own.value === value));
  if (matching.length > 1) {
    throw new ConnectorError('rejected', 'The EHR has more than one patient with this identifier');
  }
  return matching[0] ?? null;
}

export async function readPatient(ehr: FhirConnection, id: string): Promise<FhirPatient | null> {
  return isFhirId(id) ? ehr.client.read<FhirPatient>(`Patient/${id}`) : null;
}

/**
 * https://hl7.org/fhir/R4/datatypes.html#id, and `_`, which some servers use. Not `.` and `..`, which would change the
 * path of a URL.
 */
export function isFhirId(id: string): boolean {
  return /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/.test(id);
}
