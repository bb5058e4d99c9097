import {
  isSearchedFor,
  type Patient,
  type PatientOperations,
  type PatientSearch,
  type PatientSearchKey,
  spellingsOfName,
  spellingsOfPhone,
} from '@crossward/connector-kit';
import { compare, type FhirPatient } from '../fhir.ts';
import { escapeToken } from '../mappers/identifiers.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { lists } from '../server/habits.ts';
import { noneIfRejected } from '../server/search-any.ts';
import { isBookable, patientOf } from './patients.ts';

/** By what patients can be searched for: the server must name the parameters, and take them by POST. */
export function patientSearchBy({ settings }: FhirConnection, facts: ServerFacts): readonly PatientSearchKey[] {
  if (settings.patient_search === 'get') return [];
  const byName = facts.searchesPatientsBy('family', 'birthdate');
  return [...(byName ? (['name'] as const) : []), ...(facts.searchesPatientsBy('phone') ? (['phone'] as const) : [])];
}

/** Searches by POST, so that names and numbers are in no URL. Absent if the server can be searched by nothing. */
export function patientSearch(
  ehr: FhirConnection,
  facts: ServerFacts,
): Pick<PatientOperations, 'searchPatients'> | object {
  const isPossible = patientSearchBy(ehr, facts).length > 0;
  return isPossible ? { searchPatients: (search: PatientSearch) => searchPatients(ehr, search) } : {};
}

async function searchPatients(ehr: FhirConnection, search: PatientSearch): Promise<readonly Patient[]> {
  const found = (await Promise.all(searchesFor(ehr, search))).flat();
  const each = [...new Map(found.map((it) => [it.id, it])).values()];
  const current = each.filter((it) => isBookable(it) && !it.link?.some(({ type }) => type === 'replaced-by'));
  return current
    .map((it) => patientOf(ehr, it))
    .filter((it) => isSearchedFor(it, search))
    .sort((a, b) => compare(a.id, b.id))
    .slice(0, search.limit);
}

/** https://hl7.org/fhir/R4/patient.html#search */
function searchesFor({ client, searchAny }: FhirConnection, search: PatientSearch): readonly Promise<FhirPatient[]>[] {
  const common = { type: 'Patient', options: { post: true } } as const;
  if ('phone' in search) {
    // Servers keep numbers as they were written.
    const [usual = '', ...others] = spellingsOfPhone(search.phone);
    return [searchAny({ ...common, parameter: 'phone', groups: [[usual], others.map(escapeToken)] })];
  }
  const groups = spellingsOfName(search.familyName).map((it) => [escapeToken(it)]);
  const by = (parameter: string) =>
    searchAny<FhirPatient>({ ...common, parameter, groups, others: [['birthdate', search.birthDate]] });
  // A name that is only a text has no family name.
  const byText = lists(client.habits, 'Patient', 'name') ? [by('name').catch(noneIfRejected)] : [];
  return [by('family'), ...byText];
}
