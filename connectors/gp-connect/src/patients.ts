import {
  ConnectorError,
  numberIn,
  type Patient,
  type PatientIdentifier,
  personIn,
  type WrittenPatient,
} from '@crossward/connector-kit';
import { identifiersOf, readRecord } from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import type { GpConnectClient } from './client.ts';
import type { FhirAppointment, FhirResource, Reference } from './fhir.ts';
import { identifierSchema, patientSchema } from './records.ts';
import { nullIfAbsent, SpineError } from './spine-errors.ts';
import { identifierSystems } from './urls.ts';

/** What is read of a patient, and what the kit reads in any form. */
type ReadPatient = Static<typeof patientSchema> & WrittenPatient;

/** A patient of the practice. The practice leaves out those who have died or left, and those whose record is sensitive. */
export async function findPatient(
  client: GpConnectClient,
  { type, value }: PatientIdentifier,
): Promise<Patient | null> {
  if (type === 'nhs_number') {
    const found = await byNhsNumber(client, value);
    return found && toPatient(found);
  }
  const found = await byId(client, value);
  return found && toPatient(readable(found));
}

/** Whether the practice has a patient with this id. */
export async function isPatient(client: GpConnectClient, id: string): Promise<boolean> {
  return (await byId(client, id)) !== null;
}

async function byNhsNumber(client: GpConnectClient, number: string): Promise<ReadPatient | null> {
  const identifier = encodeURIComponent(`${identifierSystems.nhsNumber}|${number}`);
  const resources =
    (await client.search('search:patient-1', `Patient?identifier=${identifier}`).catch(nullIfAbsent)) ?? [];
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

/**
 * Some systems answer BAD_REQUEST to the id of a patient whom they do not have, which is also what they answer to any request with
 * incorrect headers: then the practice is asked whether it takes the headers and the token of the gateway.
 */
async function byId(client: GpConnectClient, id: string): Promise<FhirResource | null> {
  try {
    return await client.find('read:patient-1', 'Patient', id);
  } catch (error) {
    const isBad = error instanceof SpineError && error.isBadRequest;
    const statement =
      isBad && (await client.read('read:metadata-1', 'metadata', 'CapabilityStatement').catch(() => null));
    if (statement) return null;
    throw error;
  }
}

/** @throws ConnectorError `rejected` for a record that cannot be read: it may be that of a patient who has died */
function readable(resource: FhirResource): ReadPatient {
  const { record, path } = readRecord(patientSchema, resource);
  if (record) return record;
  throw new ConnectorError('rejected', `The EHR sent a patient who cannot be read (${path})`);
}

function nhsNumbers({ identifier = [] }: ReadPatient): string[] {
  return identifier.flatMap(({ system, value }) =>
    system === identifierSystems.nhsNumber ? (numberIn('nhs_number', value) ?? []) : [],
  );
}

function toPatient(resource: ReadPatient): Patient {
  const { id, active, deceasedBoolean, deceasedDateTime } = resource;
  const isInactive = active === false || deceasedBoolean === true || deceasedDateTime !== undefined;
  return {
    id,
    identifiers: identifiersOf(id, 'nhs_number', ...nhsNumbers(resource)),
    // Practices write numbers of the United Kingdom without its country code.
    ...personIn(resource, new Date(), 'GB'),
    ...(isInactive ? { isInactive: true } : {}),
  };
}

/** An appointment with its patient by reference, for reading: it is not written back. */
export type NamePatient = (appointment: FhirAppointment) => Promise<FhirAppointment>;

/**
 * Finds the patients whom appointments name by NHS number only. Each number is looked up once. Whoever cannot be found, or
 * cannot be read, is not guessed: the appointment stays without a patient.
 *
 * @param wanted only this patient is named
 */
export function patientNamer({ client }: { readonly client: GpConnectClient }, wanted?: string): NamePatient {
  const found = new Map<string, Promise<string | undefined>>();

  function idWith(number: string): Promise<string | undefined> {
    const id =
      found.get(number) ??
      byNhsNumber(client, number)
        .catch(nullIfUnclear)
        .then((it) => it?.id);
    found.set(number, id);
    return id;
  }

  return async (appointment) => {
    const participant: unknown = appointment.participant;
    if (!Array.isArray(participant)) return appointment;
    const actors = participant.map((it: { readonly actor?: Reference } | null) => it?.actor ?? undefined);
    if (client.references.to('Patient', actors) !== undefined) return appointment;
    const at = actors.findIndex((it) => nhsNumberOf(it) !== undefined);
    const number = nhsNumberOf(actors[at]);
    const id = number === undefined ? undefined : await idWith(number);
    if (id === undefined || id !== (wanted ?? id)) return appointment;
    const named = { ...participant[at], actor: { reference: `Patient/${id}` } };
    return { ...appointment, participant: participant.with(at, named) };
  };
}

/** Of an actor who is named by nothing else. https://hl7.org/fhir/STU3/references.html#Reference */
function nhsNumberOf(actor: Reference | undefined): string | undefined {
  if (typeof actor !== 'object' || 'reference' in actor || !('identifier' in actor)) return undefined;
  const { record } = readRecord(identifierSchema, actor.identifier);
  return record?.system === identifierSystems.nhsNumber ? numberIn('nhs_number', record.value) : undefined;
}

function nullIfUnclear(error: unknown): null {
  if (error instanceof ConnectorError && (error.kind === 'rejected' || error.kind === 'patient_ambiguous')) return null;
  throw error;
}
