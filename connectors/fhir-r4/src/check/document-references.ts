import type { ConfiguredCareUnit } from '@crossward/connector-kit';
import type { FhirDocumentReference } from '../fhir.ts';
import { isOfCareUnit } from '../notes-and-documents/care-unit.ts';
import { isCurrentDocument } from '../notes-and-documents/entered-in-error.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRejection } from '../server/outcome.ts';

/** How many of the documents name one of the care units. */
export async function countPlaced(
  ehr: FhirConnection,
  careUnits: readonly ConfiguredCareUnit[],
  documents: readonly FhirDocumentReference[],
): Promise<number> {
  const directories = await Promise.all(careUnits.map((it) => ehr.directory.of(it)));
  return documents.filter((it) => directories.some((directory) => isOfCareUnit(it, directory, 'recorded'))).length;
}

/** The first page of current documents. Empty if the server rejects a search without a patient. */
export async function someDocuments({ client }: FhirConnection): Promise<readonly FhirDocumentReference[]> {
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
