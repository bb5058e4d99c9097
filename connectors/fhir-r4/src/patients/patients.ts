import {
  ConnectorError,
  type NumberType,
  type Patient,
  type PatientIdentifier,
  spellingsOf,
} from '@crossward/connector-kit';
import { type FhirPatient, localReference, referenceTo } from '../fhir.ts';
import { identifierTokens } from '../mappers/identifiers.ts';
import { toPatient } from '../mappers/patient.ts';
import type { FhirConnection } from '../server/connection.ts';
import { unreadable } from '../server/search.ts';
import { replacedBy } from './replaced.ts';

/** The maximum number of replacements that are followed. */
const mostLinks = 10;

/**
 * Searches by POST, so that the number is not in the URL. Rejects several matches, because the wrong one could be
 * another person's record. If a record has been replaced, returns the replacement.
 */
export async function findPatient(ehr: FhirConnection, identifier: PatientIdentifier): Promise<Patient | null> {
  const { type, value } = identifier;
  const found = type === 'emr_id' ? await currentPatient(ehr, value) : await byNumber(ehr, type, value);
  if (!found) return null;
  ehr.replacedPatients.put(referenceTo(found), replacedBy(found));
  const current = patientOf(ehr, found);
  const isOwn = current.identifiers.some((own) => own.type === type && own.value === value);
  // It was found by a record that it has replaced.
  const patient: Patient = isOwn ? current : { ...current, replaces: [identifier] };
  if (!isBookable(found)) return { ...patient, isInactive: true };
  ehr.bookablePatients.put(patient.id, patient.id);
  return patient;
}

export function patientOf({ systems, patientIdentifierTypes }: FhirConnection, resource: FhirPatient): Patient {
  return toPatient(resource, systems, patientIdentifierTypes, new Date());
}

async function byNumber(ehr: FhirConnection, type: NumberType, value: string): Promise<FhirPatient | null> {
  let isWhole = true;
  const leftOut = () => {
    isWhole = false;
  };
  const found = await ehr.searchAny<FhirPatient>({
    type: 'Patient',
    parameter: 'identifier',
    groups: identifierTokens(ehr.systems, type, spellingsOf({ type, value })),
    options: { post: ehr.settings.patient_search !== 'get', few: true, leftOut },
  });
  // Somebody else can have a spelling without the century. Some servers ignore a parameter that they do not know.
  const matching = found.filter((it) =>
    patientOf(ehr, it).identifiers.some((own) => own.type === type && own.value === value),
  );
  // One that is left out hides nobody, but may be the only one who has the number.
  if (matching.length === 0 && !isWhole) throw unreadable('Patient');
  const current = await Promise.all(matching.map((it) => survivorOf(ehr, it)));
  const people = [...new Map(current.map((it) => [it.id, it])).values()];
  // An inactive record may be a copy of the active one.
  const inUse = people.filter(isInUse);
  const candidates = inUse.length > 0 ? inUse : people;
  if (candidates.length > 1) {
    throw new ConnectorError('patient_ambiguous', 'The EHR has more than one patient with this identifier');
  }
  return candidates[0] ?? null;
}

/**
 * The id of the patient's current record: notes and documents can also be written about somebody who has died.
 *
 * @throws ConnectorError `patient_not_found`
 */
export async function currentPatientId(ehr: FhirConnection, id: string): Promise<string> {
  const known = ehr.bookablePatients.take(id);
  if (known !== undefined) return known;
  const patient = await currentPatient(ehr, id);
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  return patient.id ?? id;
}

/** The patient with this id, or the one that has replaced it. `null`: there is none. */
async function currentPatient(ehr: FhirConnection, id: string): Promise<FhirPatient | null> {
  const patient = isFhirId(id) ? await ehr.client.read<FhirPatient>(`Patient/${id}`) : null;
  return patient && survivorOf(ehr, patient);
}

/**
 * A record that was merged into another one still exists, and links to it:
 * https://hl7.org/fhir/R4/valueset-link-type.html. The record itself if its links cannot be followed: they lead to another
 * server, to no record or in a circle. It cannot be booked then.
 */
async function survivorOf({ client }: FhirConnection, patient: FhirPatient): Promise<FhirPatient> {
  const seen = new Set<string>();
  let current = patient;
  while (seen.size < mostLinks) {
    const link = replacement(current);
    if (!link) return current;
    seen.add(referenceTo(current));
    const next = localReference(link.other);
    // A link may also refer to a RelatedPerson, who is not a patient.
    const found = next?.startsWith('Patient/') && !seen.has(next) ? await client.read<FhirPatient>(next) : null;
    if (!found) return patient;
    current = found;
  }
  return patient;
}

function replacement({ link = [] }: FhirPatient) {
  return link.find(({ type }) => type === 'replaced-by');
}

/**
 * The id under which a patient can be booked: that of the replacement, if the record was replaced.
 *
 * @throws ConnectorError `patient_not_found`; `patient_inactive` if the record is inactive or the patient has died
 */
export async function bookablePatientId(ehr: FhirConnection, id: string): Promise<string> {
  const known = ehr.bookablePatients.take(id);
  if (known !== undefined) return known;
  const patient = await currentPatient(ehr, id);
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  if (!isBookable(patient)) throw new ConnectorError('patient_inactive', 'The patient can no longer be booked');
  return patient.id ?? id;
}

export function isBookable(patient: FhirPatient): boolean {
  const { deceasedBoolean, deceasedDateTime } = patient;
  return isInUse(patient) && deceasedBoolean !== true && deceasedDateTime === undefined;
}

function isInUse(patient: FhirPatient): boolean {
  return patient.active !== false && replacement(patient) === undefined;
}

/**
 * https://hl7.org/fhir/R4/datatypes.html#id, and `_`, which some servers use. Not `.` and `..`, which would change the
 * path of a URL.
 */
export function isFhirId(id: string): boolean {
  return /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/.test(id);
}
