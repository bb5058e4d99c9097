import type { ConfiguredCareUnit, ProbeFinding } from '@crossward/connector-kit';
import type { FhirDocumentReference } from '../fhir.ts';
import { isOfCareUnit } from '../notes-and-documents/care-unit.ts';
import { isCurrentDocument } from '../notes-and-documents/document-reference.ts';
import { documents, lackedForDocuments } from '../notes-and-documents/documents.ts';
import { hasCategory, noteCodings } from '../notes-and-documents/medical-note.ts';
import { medicalNotes } from '../notes-and-documents/medical-notes.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRejection } from '../server/outcome.ts';

/**
 * Reports which operations for medical notes the server supports, and whether its documents have the category of notes
 * and name care units. Writes nothing: a trial note would be in a patient's record.
 */
export async function probeMedicalNotes(
  ehr: FhirConnection,
  facts: ServerFacts,
  careUnits: readonly ConfiguredCareUnit[],
  recommended: Record<string, unknown>,
): Promise<ProbeFinding> {
  const name = 'medical notes';
  const { listMedicalNotes, findMedicalNote, createMedicalNote } = medicalNotes(ehr, facts);
  const supported = [
    ...(listMedicalNotes ? ['list'] : []),
    ...(findMedicalNote ? ['read'] : []),
    ...(createMedicalNote ? ['create'] : []),
  ];
  if (supported.length === 0) {
    return {
      name,
      status: 'untried',
      detail: 'The server offers no DocumentReferences, so there are no medical notes.',
    };
  }
  const offer = `The server offers DocumentReferences to ${supported.join(', ')}.`;
  const documents = listMedicalNotes ? await someDocuments(ehr) : [];
  if (documents.length === 0) return { name, status: 'ok', detail: `${offer} None was found.` };
  const { category } = noteCodings(ehr.settings);
  const notes = documents.filter((it) => hasCategory(it, category));
  const seen = `Of ${documents.length} documents seen, ${notes.length} have the category ${category.system}|${category.code}`;
  if (notes.length === 0) {
    return { name, status: 'warning', detail: `${seen}. Others need medical_notes.category.` };
  }
  const placed = await countPlaced(ehr, careUnits, notes);
  if (placed > 0 || ehr.settings.medical_notes?.care_unit === 'any') {
    return { name, status: 'ok', detail: `${offer} ${seen}, and ${placed} of these name a care unit.` };
  }
  recommended.medical_notes = { care_unit: 'any' };
  const detail = `${seen}, and none of these names a care unit. With medical_notes.care_unit: any, every care unit shows them.`;
  return { name, status: 'warning', detail };
}

/**
 * Reports whether the server takes documents, and whether those it has name care units. Writes nothing: a trial document
 * would be in a patient's record.
 */
export async function probeDocuments(
  ehr: FhirConnection,
  facts: ServerFacts,
  careUnits: readonly ConfiguredCareUnit[],
  recommended: Record<string, unknown>,
): Promise<ProbeFinding> {
  const name = 'documents';
  const lacked = lackedForDocuments(facts);
  if (lacked.length > 0) {
    const detail = `There are no documents: the server does not offer ${lacked.join(', ')}.`;
    return { name, status: 'untried', detail };
  }
  // Throws if the settings contradict each other.
  documents(ehr, facts);
  const offer = 'The server offers DocumentReferences and Binaries to list, read, create.';
  const { category } = noteCodings(ehr.settings);
  const found = (await someDocuments(ehr)).filter((it) => !hasCategory(it, category));
  if (found.length === 0) return { name, status: 'ok', detail: `${offer} None was found.` };
  const placed = await countPlaced(ehr, careUnits, found);
  const seen = `Of ${found.length} documents seen that are no notes, ${placed} name a care unit.`;
  if (placed > 0 || ehr.settings.documents?.care_unit === 'any') {
    return { name, status: 'ok', detail: `${offer} ${seen}` };
  }
  recommended.documents = { care_unit: 'any' };
  return { name, status: 'warning', detail: `${seen} With documents.care_unit: any, every care unit shows them.` };
}

/** How many of the documents name one of the care units. */
async function countPlaced(
  ehr: FhirConnection,
  careUnits: readonly ConfiguredCareUnit[],
  documents: readonly FhirDocumentReference[],
): Promise<number> {
  const directories = await Promise.all(careUnits.map((it) => ehr.directory.of(it)));
  return documents.filter((it) => directories.some((directory) => isOfCareUnit(it, directory, 'recorded'))).length;
}

/** The first page of current documents. Empty if the server rejects a search without a patient. */
async function someDocuments({ client }: FhirConnection): Promise<readonly FhirDocumentReference[]> {
  const elements = ['_elements', 'status,docStatus,category,subject,author,custodian,context,identifier'] as const;
  try {
    for await (const { resources } of client.pages('DocumentReference', [elements, ['_count', '20']])) {
      return (resources as readonly FhirDocumentReference[]).filter(isCurrentDocument);
    }
    return [];
  } catch (error) {
    if (isRejection(error)) return [];
    throw error;
  }
}
