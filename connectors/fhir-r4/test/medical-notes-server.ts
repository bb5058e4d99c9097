import { randomUUID } from 'node:crypto';
import type { ConfiguredCareUnit, MedicalNoteWrite } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirDocumentReference, FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

export const clinicalNote = {
  system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
  code: 'clinical-note',
};
export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Starts a fake server, and a connector that reads and writes its medical notes. Both end with the test. */
export async function start(
  options: FakeOptions = {},
  settings: Partial<FhirSettings> = {},
  units?: readonly ConfiguredCareUnit[],
) {
  const server = await startFake({ data: { days: 3 }, ...options });
  const { listMedicalNotes, findMedicalNote, createMedicalNote, findMedicalNoteWrite, withdrawMedicalNote } =
    await openConnector(settingsFor(server.url, settings), plainHttp(), units);
  if (!listMedicalNotes || !findMedicalNote || !createMedicalNote || !findMedicalNoteWrite || !withdrawMedicalNote) {
    throw new Error('The connector has no medical notes');
  }
  return {
    server,
    /** Stores a document as the EHR's staff would. Returns its id. */
    save: (
      fields: { readonly [Name in keyof FhirDocumentReference]?: FhirDocumentReference[Name] | undefined } = {},
    ) => {
      const document = {
        resourceType: 'DocumentReference',
        status: 'current',
        category: [{ coding: [clinicalNote] }],
        subject: { reference: 'Patient/p-1' },
        date: '2026-03-20T09:00:00Z',
        content: [{ attachment: { contentType: 'text/plain', data: base64('Seen.') } }],
        context: { related: [{ reference: 'Location/north' }] },
        ...fields,
      };
      return server.store.save(document as FhirResource).id ?? '';
    },
    documents: () => server.store.all('DocumentReference') as unknown as FhirDocumentReference[],
    list: (query: object = {}) => listMedicalNotes({ careUnit: north, patientId: 'p-1', limit: 100, ...query }),
    find: (id: string, careUnit = north) => findMedicalNote(careUnit, 'p-1', id),
    write: (fields: Partial<MedicalNoteWrite> = {}) =>
      createMedicalNote({
        operationId: randomUUID(),
        careUnit: north,
        patientId: 'p-1',
        authorId: null,
        title: null,
        text: 'Well.',
        appointmentId: null,
        ...fields,
      }),
    findWrite: (operationId: string) => findMedicalNoteWrite(north, operationId),
    withdraw: (operationId: string) => withdrawMedicalNote(north, operationId),
  };
}
