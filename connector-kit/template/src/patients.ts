import { ConnectorError, type EhrHttp, genders, type Patient, type PatientIdentifier } from '@crossward/connector-kit';

/** The fields of the EHR's response that the connector uses. Other fields are ignored. */
interface ToyPatient {
  readonly id: string;
  readonly nhs: string | null;
  readonly given: string;
  readonly family: string;
  readonly born: string;
  readonly sex: string;
}

/** Searches with a request body, so that no patient identifier appears in a URL. */
export async function findPatient(
  http: EhrHttp,
  baseUrl: string,
  identifier: PatientIdentifier,
): Promise<Patient | null> {
  const { status, text } = await http.send({
    method: 'POST',
    url: `${baseUrl}/patients/search`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(identifier.type === 'nhs_number' ? { nhs: identifier.value } : { id: identifier.value }),
    repeatable: true,
  });
  if (status !== 200)
    throw new ConnectorError('rejected', `The EHR responded with status ${status} to a patient search`);
  const [found, ...more] = readPatients(text);
  if (more.length > 0) throw new ConnectorError('rejected', 'The EHR has several patients with the same identifier');
  return found ? patient(found) : null;
}

function readPatients(text: string): readonly ToyPatient[] {
  try {
    const { patients } = JSON.parse(text) as { patients: readonly ToyPatient[] };
    if (Array.isArray(patients) && patients.every(({ id }) => typeof id === 'string')) return patients;
  } catch {
    // Reported below. The parser's message would quote patient data.
  }
  throw new ConnectorError('rejected', 'The EHR sent an invalid response to a patient search');
}

function patient({ id, nhs, given, family, born, sex }: ToyPatient): Patient {
  return {
    id,
    identifiers: [
      { type: 'emr_id', value: id },
      ...(nhs === null ? [] : [{ type: 'nhs_number', value: nhs } as const]),
    ],
    givenName: given,
    familyName: family,
    birthDate: born,
    gender: genders.find((it) => it === sex) ?? 'unknown',
    phone: null,
    email: null,
    address: null,
  };
}
