import {
  type Address,
  ConnectorError,
  contactsOfPatient,
  genders,
  nameOfPatient,
  numberIn,
  type Patient,
  type PatientIdentifier,
} from '@crossward/connector-kit';
import { identifiersOf, readRecord } from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import type { GpConnectClient } from './client.ts';
import { type FhirResource, isFhirId } from './fhir.ts';
import { addressesSchema, patientSchema } from './records.ts';
import { SpineError } from './spine-errors.ts';
import { identifierSystems } from './urls.ts';

/** What is read of a patient, and what readers of the kit take in any form. */
type ReadPatient = FhirResource &
  Static<typeof patientSchema> & {
    readonly name?: unknown;
    readonly telecom?: unknown;
    readonly address?: unknown;
  };

/** A patient of the practice. The practice leaves out those who have died or left, and those whose record is sensitive. */
export async function findPatient(
  client: GpConnectClient,
  { type, value }: PatientIdentifier,
): Promise<Patient | null> {
  const found =
    type === 'nhs_number' ? await byNhsNumber(client, value).catch(nullIfAbsent) : await byId(client, value);
  return found && toPatient(readable(found));
}

/** The id of the patient with this NHS number. `undefined`: the practice has none. */
export async function patientIdWith(client: GpConnectClient, nhsNumber: string): Promise<string | undefined> {
  return (await byNhsNumber(client, nhsNumber).catch(nullIfAbsent))?.id;
}

/** Whether the practice has a patient with this id. */
export async function isPatient(client: GpConnectClient, id: string): Promise<boolean> {
  return (await byId(client, id)) !== null;
}

async function byNhsNumber(client: GpConnectClient, number: string): Promise<ReadPatient | null> {
  const identifier = encodeURIComponent(`${identifierSystems.nhsNumber}|${number}`);
  const resources = await client.search('search:patient-1', `Patient?identifier=${identifier}`);
  const found = resources.filter(({ resourceType }) => resourceType === 'Patient').map(readable);
  const [patient, another] = found;
  if (!patient) return null;
  const areRight = found.every((it) => nhsNumbers(it).includes(number));
  if (areRight && another && another.id !== patient.id) {
    throw new ConnectorError('patient_ambiguous', 'The EHR has more than one patient with this NHS number');
  }
  if (areRight && !another) return patient;
  throw new ConnectorError('rejected', 'The EHR sent a patient with another NHS number than the one requested');
}

async function byId(client: GpConnectClient, id: string): Promise<FhirResource | null> {
  if (!isFhirId(id)) return null;
  try {
    const patient = await client.read('read:patient-1', `Patient/${id}`, 'Patient');
    if (patient.id === id) return patient;
  } catch (error) {
    if (error instanceof SpineError && error.isBadRequest && (await understands(client))) return null;
    return nullIfAbsent(error);
  }
  throw new ConnectorError('rejected', 'The EHR sent another patient than the one requested');
}

/**
 * Whether the practice takes the headers and the token of the gateway. Some systems answer BAD_REQUEST to the id of a patient
 * whom they do not have, which is also what they answer to any request with incorrect headers.
 */
async function understands(client: GpConnectClient): Promise<boolean> {
  return client.read('read:metadata-1', 'metadata', 'CapabilityStatement').then(
    () => true,
    () => false,
  );
}

function nullIfAbsent(error: unknown): null {
  if (error instanceof SpineError && error.isAbsence) return null;
  throw error;
}

/** @throws ConnectorError `rejected` for a record that cannot be read: it may be that of a patient who has died */
function readable(resource: FhirResource): ReadPatient {
  const { record, path } = readRecord(patientSchema, resource);
  if (record) return record as ReadPatient;
  throw new ConnectorError('rejected', `The EHR sent a patient who cannot be read (${path})`);
}

function nhsNumbers({ identifier = [] }: ReadPatient): string[] {
  return identifier.flatMap(({ system, value }) =>
    system === identifierSystems.nhsNumber ? (numberIn('nhs_number', value) ?? []) : [],
  );
}

function toPatient(resource: ReadPatient): Patient {
  const { id, gender, birthDate, active, deceasedBoolean, deceasedDateTime } = resource;
  const now = new Date();
  const isInactive = active === false || deceasedBoolean === true || deceasedDateTime !== undefined;
  return {
    id,
    identifiers: identifiersOf(id, 'nhs_number', ...nhsNumbers(resource)),
    ...nameOfPatient(resource.name, now),
    birthDate: birthDate !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(birthDate) ? birthDate : null,
    gender: genders.find((it) => it === gender) ?? null,
    // Practices write numbers of the United Kingdom without its country code.
    ...contactsOfPatient(resource.telecom, now, 'GB'),
    address: addressOf(resource.address),
    ...(isInactive ? { isInactive: true } : {}),
  };
}

function addressOf(address: unknown): Address | null {
  const current = (readRecord(addressesSchema, address).record ?? []).filter(({ use }) => use !== 'old');
  const best = current.find(({ use }) => use === 'home') ?? current[0];
  if (!best) return null;
  const { line = [], postalCode = null, city = null, country } = best;
  return {
    lines: line,
    postalCode,
    city,
    country: country !== undefined && /^[A-Z]{2}$/.test(country) ? country : null,
  };
}
