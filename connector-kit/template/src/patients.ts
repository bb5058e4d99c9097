import {
  ConnectorError,
  type EhrHttp,
  genders,
  numberIn,
  type Patient,
  type PatientIdentifier,
  spellingsOf,
} from '@crossward/connector-kit';

/** The fields of the EHR's response that the connector uses. Other fields are ignored. */
interface ToyPatient {
  readonly id: string;
  readonly nhs: string | null;
  readonly given: string;
  readonly family: string;
  readonly born: string;
  readonly sex: string;
}

/** Searches for each way to write a number, and with a request body, so that no patient identifier appears in a URL. */
export async function findPatient(
  http: EhrHttp,
  baseUrl: string,
  identifier: PatientIdentifier,
): Promise<Patient | null> {
  const { status, text } = await http.send({
    method: 'POST',
    url: `${baseUrl}/patients/search`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      identifier.type === 'nhs_number' ? { nhs: spellingsOf(nhsNumber(identifier)) } : { id: identifier.value },
    ),
    repeatable: true,
  });
  if (status !== 200)
    throw new ConnectorError('rejected', `The EHR responded with status ${status} to a patient search`);
  const [found, ...more] = readPatients(text);
  if (more.length > 0)
    throw new ConnectorError('patient_ambiguous', 'The EHR has several patients with the same identifier');
  return found ? patient(found) : null;
}

function nhsNumber({ value }: { readonly value: string }) {
  return { type: 'nhs_number', value } as const;
}

function readPatients(text: string): readonly ToyPatient[] {
  try {
    const { patients } = JSON.parse(text) as { patients: readonly ToyPatient[] };
    if (Array.isArray(patients) && patients.every(({ id }) => typeof id === 'string')) return patients;
  } catch {
    // Reported below. The parser's message would quote patient data.
  }
  throw new ConnectorError('rejected', 'The EHR sent an invalid response to a patient search', { fault: true });
}

function patient({ id, nhs, given, family, born, sex }: ToyPatient): Patient {
  const number = numberIn('nhs_number', nhs);
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }, ...(number === undefined ? [] : [nhsNumber({ value: number })])],
    givenName: given,
    familyName: family,
    birthDate: born,
    gender: genders.find((it) => it === sex) ?? 'unknown',
    phone: null,
    email: null,
    address: null,
  };
}
