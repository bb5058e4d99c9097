import { type FhirPatient, localReference, type Reference, referenceTo } from '../fhir.ts';
import type { FhirConnection } from '../server/connection.ts';

/** More records than a patient has. */
const mostRecords = 20;

/**
 * The ids of all records of a patient: the current one first, then those that it has replaced. Appointments that were booked
 * before the records were merged may still name them. Either record names the other:
 * https://hl7.org/fhir/R4/valueset-link-type.html. Records that only the replaced one links are found if the server can search
 * by `link`.
 */
export async function recordsOf(ehr: FhirConnection, patientId: string): Promise<readonly string[]> {
  const found = new Set([`Patient/${patientId}`]);
  for (let open = [...found]; open.length > 0 && found.size < mostRecords; ) {
    const [own, linking] = await Promise.all([linksOf(ehr, open), recordsThatName(ehr, open)]);
    open = [...own, ...linking].filter((it) => !found.has(it));
    for (const reference of open) found.add(reference);
  }
  return [...found].map((it) => it.slice('Patient/'.length));
}

/** The records that these ones say they replace. */
async function linksOf({ client, replacedPatients }: FhirConnection, references: readonly string[]): Promise<string[]> {
  const [only] = references;
  const known = references.length === 1 && only !== undefined ? replacedPatients.take(only) : undefined;
  if (known) return [...known];
  return (await client.readMany<FhirPatient>(references)).flatMap(replacedBy);
}

/** The records that this one says it replaces. */
export function replacedBy({ link = [] }: FhirPatient): string[] {
  return link.flatMap(({ type, other }) => (type === 'replaces' ? patientIn(other) : []));
}

/** The records that say they were replaced by one of these. */
async function recordsThatName(
  { client, searchesPatientLinks }: FhirConnection,
  references: readonly string[],
): Promise<string[]> {
  if (!searchesPatientLinks) return [];
  const found = await client.search<FhirPatient>('Patient', [['link', references.join(',')]], { few: true });
  const names = ({ link = [] }: FhirPatient) =>
    link.some(({ type, other }) => type === 'replaced-by' && patientIn(other).some((it) => references.includes(it)));
  return found.filter(names).map(referenceTo);
}

function patientIn(other: Reference | undefined): string[] {
  const reference = localReference(other);
  return reference?.startsWith('Patient/') ? [reference] : [];
}
