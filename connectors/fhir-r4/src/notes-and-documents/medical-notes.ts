import { type Connector, ConnectorError, type MedicalNote, type MedicalNoteWrite } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirDocumentReference, localReference } from '../fhir.ts';
import { currentPatientId, isFhirId } from '../patients/patients.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { appointmentsOf } from './appointments.ts';
import { authorReference, authorsOf } from './authors.ts';
import { ofCareUnit } from './care-unit.ts';
import { isCurrentDocument, isEnteredInError } from './document-reference.ts';
import { isNote, noteCodings, noteDocument, toMedicalNote } from './medical-note.ts';
import { documentSearch } from './search.ts';
import { createDocument, findCreated, withdrawDocument } from './write.ts';

/** The operations for medical notes, as far as the server supports DocumentReferences. */
export function medicalNotes(ehr: FhirConnection, facts: ServerFacts): Partial<Connector> {
  const { client, settings } = ehr;
  const { author = 'practitioner', care_unit = 'recorded' } = settings.medical_notes ?? {};
  const codings = noteCodings(settings);
  const search = documentSearch(client, { post: settings.patient_search !== 'get' });
  const readsEncounters = facts.can('Encounter', 'read') && facts.can('Encounter', 'search-type');

  const isShown = (document: FhirDocumentReference, patientId: string) =>
    localReference(document.subject) === `Patient/${patientId}` &&
    isCurrentDocument(document) &&
    isNote(document, codings);
  const shown = (documents: readonly FhirDocumentReference[], patientId: string, directory: CareUnitDirectory) =>
    ofCareUnit(
      client,
      documents.filter((it) => isShown(it, patientId)),
      directory,
      care_unit,
    );

  async function notes(
    documents: readonly FhirDocumentReference[],
    directory: CareUnitDirectory,
  ): Promise<readonly MedicalNote[]> {
    const [authorOf, appointmentOf] = await Promise.all([
      authorsOf(client, directory, documents),
      appointmentsOf(client, documents, readsEncounters),
    ]);
    const context = { client, settings, authorOf, appointmentOf };
    return Promise.all(documents.map((it) => toMedicalNote(it, context)));
  }

  const listing: Partial<Connector> = {
    async listMedicalNotes({ careUnit, authorId, ...query }) {
      const directory = await ehr.directory.of(careUnit);
      const authors = authorId === undefined ? undefined : directory.namesOf(authorId);
      if (authors?.length === 0) return [];
      const documents = await search({
        ...query,
        parameters: [
          ['category', `${codings.category.system}|${codings.category.code}`],
          ...(authors ? [['author', authors.join(',')] as const] : []),
        ],
        select: (found) => {
          const ofAuthor = found.filter(
            ({ author = [] }) => !authors || author.some((it) => authors.includes(localReference(it) ?? '')),
          );
          return shown(ofAuthor, query.patientId, directory);
        },
      });
      return notes(documents, directory);
    },
  };

  const finding: Partial<Connector> = {
    async findMedicalNote(careUnit, patientId, noteId) {
      if (!isFhirId(noteId)) return null;
      const [directory, document] = await Promise.all([
        ehr.directory.of(careUnit),
        client.read<FhirDocumentReference>(`DocumentReference/${noteId}`),
      ]);
      const found = await shown(document ? [document] : [], patientId, directory);
      return (await notes(found, directory))[0] ?? null;
    },
  };

  async function create(write: MedicalNoteWrite): Promise<MedicalNote> {
    const [directory, patientId] = await Promise.all([
      ehr.directory.of(write.careUnit),
      currentPatientId(ehr, write.patientId),
    ]);
    const reference = write.authorId === null ? undefined : authorReference(directory, write.authorId, author);
    if (write.authorId !== null && !reference) throw new ConnectorError('resource_not_found', 'No such author');
    const document = noteDocument(write, patientId, reference, directory, codings);
    const created = await createDocument(ehr, document, write.operationId, write.onNoResponse);
    return noteOf(created, directory);
  }

  async function noteOf(document: FhirDocumentReference, directory: CareUnitDirectory): Promise<MedicalNote> {
    const [note] = await notes([document], directory);
    if (!note) throw new Error('Every document of a note becomes a note');
    return note;
  }

  const lookingUp: Partial<Connector> = {
    async findMedicalNoteWrite(careUnit, operationId) {
      const document = await findCreated(ehr, operationId);
      if (!document || isEnteredInError(document)) return null;
      return noteOf(document, await ehr.directory.of(careUnit));
    },
    withdrawMedicalNote: (_careUnit, operationId) => withdrawDocument(ehr, operationId),
  };

  const can = (interaction: Parameters<ServerFacts['can']>[1]) => facts.can('DocumentReference', interaction);
  return {
    ...(can('search-type') ? listing : {}),
    ...(can('read') ? finding : {}),
    ...(can('create') && can('search-type') && can('update') ? { createMedicalNote: create } : {}),
    ...(can('create') && can('search-type') && can('update') && ehr.documentLookup ? lookingUp : {}),
  };
}
