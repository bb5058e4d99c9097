import type { ConfiguredCareUnit, ProbeFinding } from '@crossward/connector-kit';
import { documents, lackedForDocuments } from '../notes-and-documents/documents.ts';
import { hasCategory, noteCodings } from '../notes-and-documents/medical-note.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { countPlaced, someDocuments } from './document-references.ts';

const name = 'documents';

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
