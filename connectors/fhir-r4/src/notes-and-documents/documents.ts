import { type Connector, ConnectorError, type Document, type DocumentWrite } from '@crossward/connector-kit';
import { isUnknown, quietly } from '../booking/write/outcomes.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirDocumentReference, localReference } from '../fhir.ts';
import { currentPatientId, isFhirId } from '../patients/patients.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { authorReference, authorsOf } from './authors.ts';
import { ofCareUnit } from './care-unit.ts';
import { binaryIdIn } from './content-hash.ts';
import { documentCodings, documentReference, onlyAttachment, storedBinary, toDocument } from './document.ts';
import { documentContent, storeContent } from './document-content.ts';
import { isCurrentDocument, isEnteredInError } from './document-reference.ts';
import { isNote, noteCodings } from './medical-note.ts';
import { type DocumentSearch, documentSearch } from './search.ts';
import { createNew, findCreated, withdrawDocument } from './write.ts';

/** The operations for documents, if the server supports DocumentReferences and Binaries. */
export function documents(ehr: FhirConnection, facts: ServerFacts): Partial<Connector> {
  if (lackedForDocuments(facts).length > 0) return {};
  const { client, settings } = ehr;
  const { author = 'practitioner', care_unit = 'recorded' } = settings.documents ?? {};
  const codings = documentCodings(settings);
  const notes = noteCodings(settings);
  const search = documentSearch(client, { post: settings.patient_search !== 'get' });

  const isShown = (document: FhirDocumentReference, patientId: string) =>
    localReference(document.subject) === `Patient/${patientId}` &&
    isCurrentDocument(document) &&
    onlyAttachment(document) !== undefined &&
    !isNote(document, notes);
  const shown = (documents: readonly FhirDocumentReference[], patientId: string, directory: CareUnitDirectory) =>
    ofCareUnit(
      client,
      documents.filter((it) => isShown(it, patientId)),
      directory,
      care_unit,
    );

  async function documentOf(document: FhirDocumentReference, directory: CareUnitDirectory): Promise<Document> {
    return toDocument(document, await authorsOf(client, directory, [document]));
  }

  const find: Find = async (careUnit, patientId, documentId) => {
    if (!isFhirId(documentId)) return null;
    const [directory, document] = await Promise.all([
      ehr.directory.of(careUnit),
      client.read<FhirDocumentReference>(`DocumentReference/${documentId}`),
    ]);
    const [found] = await shown(document ? [document] : [], patientId, directory);
    return found ? { document: found, directory } : null;
  };

  /** Stores the content first. What is cut off there leaves a Binary that no document refers to. */
  async function create(write: DocumentWrite): Promise<Document> {
    const [directory, patientId, earlier] = await Promise.all([
      ehr.directory.of(write.careUnit),
      currentPatientId(ehr, write.patientId),
      ehr.documentLookup ? findCreated(ehr, write.operationId) : null,
    ]);
    if (earlier) return documentOf(earlier, directory);
    const reference = write.authorId === null ? undefined : authorReference(directory, write.authorId, author);
    if (write.authorId !== null && !reference) throw new ConnectorError('resource_not_found', 'No such author');
    const binary = await storeContent(client, write);
    const document = documentReference({ write, patientId, author: reference, directory, binary }, codings);
    const created = await createWith(binary, document, write);
    return documentOf(created, directory);
  }

  /** Deletes the Binary if it is certain that no document will refer to it. */
  async function createWith(
    binary: string,
    document: FhirDocumentReference,
    { operationId, onNoResponse }: DocumentWrite,
  ): Promise<FhirDocumentReference> {
    let mayBeLate = false;
    const created = await createNew(ehr, document, operationId, () => {
      mayBeLate = true;
      onNoResponse?.();
    }).catch(async (error: unknown) => {
      if (!isUnknown(error)) await discard(binary);
      throw error;
    });
    const used = binaryIdIn(onlyAttachment(created)?.url, storedBinary(created));
    if (!mayBeLate && used !== undefined && used !== binaryIdIn(binary)) await discard(binary);
    return created;
  }

  async function discard(binary: string): Promise<void> {
    if (facts.can('Binary', 'delete')) await quietly(() => client.remove(binary));
  }

  const lookingUp: Partial<Connector> = {
    async findDocumentWrite(careUnit, operationId) {
      const document = await findCreated(ehr, operationId);
      if (!document || isEnteredInError(document)) return null;
      return documentOf(document, await ehr.directory.of(careUnit));
    },
    withdrawDocument: (_careUnit, operationId) => withdrawDocument(ehr, operationId),
  };

  return {
    async listDocuments({ careUnit, ...query }) {
      const directory = await ehr.directory.of(careUnit);
      const select: DocumentSearch['select'] = (documents) => shown(documents, query.patientId, directory);
      const found = await search({ ...query, parameters: [], select });
      const authorOf = await authorsOf(client, directory, found);
      return found.map((it) => toDocument(it, authorOf));
    },
    async findDocument(careUnit, patientId, documentId) {
      const found = await find(careUnit, patientId, documentId);
      return found && documentOf(found.document, found.directory);
    },
    async readDocument(careUnit, patientId, documentId) {
      const found = await find(careUnit, patientId, documentId);
      return found && documentContent(client, settings, found.document);
    },
    createDocument: create,
    ...(ehr.documentLookup ? lookingUp : {}),
  };
}

type Find = (
  ...document: Parameters<NonNullable<Connector['findDocument']>>
) => Promise<{ readonly document: FhirDocumentReference; readonly directory: CareUnitDirectory } | null>;

/** What a server lacks so that it could have documents. */
export function lackedForDocuments({ can }: ServerFacts): string[] {
  const needed = {
    DocumentReference: ['read', 'search-type', 'create', 'update'],
    Binary: ['read', 'create'],
  } as const;
  return Object.entries(needed).flatMap(([type, interactions]) => {
    const lacked = interactions.filter((it) => !can(type, it));
    return lacked.length === 0 ? [] : [`${type} (${lacked.join(', ')})`];
  });
}
