import {
  isSameName,
  type Patient,
  type PatientOperations,
  type PatientSearch,
  spellingsOfName,
} from '@crossward/connector-kit';
import type { ServerFacts } from './capability-statement.ts';
import type { FhirConnection } from './connection.ts';
import { compare, type FhirPatient } from './fhir.ts';
import { escapeToken } from './identifiers.ts';
import { isBookable, patientOf } from './patients.ts';

/**
 * Searches by POST, so that names and numbers are in no URL. Absent if the server does not name the parameters, or if it can be
 * searched by GET only.
 */
export function patientSearch(
  ehr: FhirConnection,
  facts: ServerFacts,
): Pick<PatientOperations, 'searchPatients'> | object {
  const isPossible = facts.searchesPatientsBy('family', 'birthdate', 'phone') && ehr.settings.patient_search !== 'get';
  return isPossible ? { searchPatients: (search: PatientSearch) => searchPatients(ehr, search) } : {};
}

async function searchPatients(ehr: FhirConnection, search: PatientSearch): Promise<readonly Patient[]> {
  const found = await ehr.searchAny<FhirPatient>({ type: 'Patient', ...valuesOf(search), options: { post: true } });
  const current = found.filter((it) => isBookable(it) && !it.link?.some(({ type }) => type === 'replaced-by'));
  return current
    .map((it) => patientOf(ehr, it))
    .filter((it) => matches(it, search))
    .sort((a, b) => compare(a.id, b.id))
    .slice(0, search.limit);
}

/** https://hl7.org/fhir/R4/patient.html#search */
function valuesOf(search: PatientSearch) {
  if ('phone' in search) return { parameter: 'phone', groups: [[search.phone]] };
  const groups = spellingsOfName(search.familyName).map((it) => [escapeToken(it)]);
  return { parameter: 'family', groups, others: [['birthdate', search.birthDate]] as const };
}

/** A server finds names that begin so, without regard to accents, and may ignore a parameter. */
function matches({ familyName, birthDate, phone }: Patient, search: PatientSearch): boolean {
  if ('phone' in search) return phone === search.phone;
  return birthDate === search.birthDate && isSameName(familyName, search.familyName);
}
