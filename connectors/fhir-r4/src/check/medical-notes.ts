import type { ConfiguredCareUnit, ProbeFinding } from '@crossward/connector-kit';
import { hasCategory, noteCodings } from '../notes-and-documents/medical-note.ts';
import { medicalNotes } from '../notes-and-documents/medical-notes.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { countPlaced, someDocuments } from './document-references.ts';

const name = 'medical notes';

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
