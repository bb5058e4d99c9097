import type { MedicalNote, MedicalNoteWrite } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type Attachment, type Coding, type FhirDocumentReference, localReference } from '../fhir.ts';
import type { FhirClient } from '../server/client.ts';
import type { FhirSettings } from '../settings.ts';
import { appointmentReference } from './appointments.ts';
import { attachmentData, attachmentText, type BinaryUrls, rankOfText } from './attachment.ts';
import type { AuthorOf } from './authors.ts';
import { careUnitElements } from './care-unit.ts';
import { createdAt } from './document-reference.ts';

export interface NoteCodings {
  readonly category: Coding;
  readonly type: Coding;
}

/** https://hl7.org/fhir/us/core/CodeSystem-us-core-documentreference-category.html */
const clinicalNote = {
  system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
  code: 'clinical-note',
  display: 'Clinical Note',
};
/** https://loinc.org/11506-3 */
const progressNote = { system: 'http://loinc.org', code: '11506-3', display: 'Progress note' };

export function noteCodings({ medical_notes }: FhirSettings): NoteCodings {
  return { category: medical_notes?.category ?? clinicalNote, type: medical_notes?.type ?? progressNote };
}

export function hasCategory(document: FhirDocumentReference, { system, code }: Coding): boolean {
  const codings = (document.category ?? []).flatMap(({ coding }) => coding ?? []);
  return codings.some((it) => it.system === system && it.code === code);
}

/**
 * A new note: https://hl7.org/fhir/R4/documentreference.html. It has what International Patient Access requires
 * (https://hl7.org/fhir/uv/ipa/StructureDefinition-ipa-documentreference.html).
 */
export function noteDocument(
  { title, text, appointmentId }: MedicalNoteWrite,
  patientId: string,
  author: { readonly reference: string } | undefined,
  directory: CareUnitDirectory,
  { category, type }: NoteCodings,
): FhirDocumentReference {
  const now = new Date().toISOString();
  const place = careUnitElements(directory);
  const related = [...(appointmentId === null ? [] : [appointmentReference(appointmentId)]), ...place.related];
  return {
    resourceType: 'DocumentReference',
    ...place.elements,
    status: 'current',
    docStatus: 'final',
    type: { coding: [type] },
    category: [{ coding: [category] }],
    subject: { reference: `Patient/${patientId}` },
    date: now,
    ...(author ? { author: [author] } : {}),
    ...(title === null ? {} : { description: title }),
    content: [
      {
        attachment: {
          contentType: 'text/plain; charset=utf-8',
          data: Buffer.from(text, 'utf8').toString('base64'),
          ...(title === null ? {} : { title }),
          creation: now,
        },
      },
    ],
    ...(related.length > 0 ? { context: { related } } : {}),
  };
}

/** The attachment that the text is read from. `undefined`: the document is no text, so it is no note. */
function textAttachment({ content }: FhirDocumentReference): Attachment | undefined {
  return (content ?? [])
    .flatMap(({ attachment }) => {
      const rank = rankOfText(attachment?.contentType);
      return attachment && rank !== undefined ? [{ attachment, rank }] : [];
    })
    .sort((a, b) => a.rank - b.rank)[0]?.attachment;
}

/** Whether the document is a note of the EHR, whichever patient and care unit it belongs to. */
export function isNote(document: FhirDocumentReference, { category }: Pick<NoteCodings, 'category'>): boolean {
  return hasCategory(document, category) && textAttachment(document) !== undefined;
}

/** Converts a document that has a text. The text is empty if the gateway cannot read it. */
export async function toMedicalNote(
  document: FhirDocumentReference,
  { client, settings, authorOf, appointmentOf }: NoteContext,
): Promise<MedicalNote> {
  const attachment = textAttachment(document) ?? {};
  const bytes = await attachmentData(client, settings, attachment);
  return {
    id: document.id ?? '',
    patientId: localReference(document.subject)?.replace(/^Patient\//, '') ?? '',
    createdAt: createdAt(document),
    authorId: authorOf(document),
    title: document.description ?? attachment.title ?? null,
    text: bytes ? attachmentText(bytes, attachment.contentType) : '',
    appointmentId: appointmentOf(document),
  };
}

export interface NoteContext {
  readonly client: FhirClient;
  readonly settings: BinaryUrls;
  readonly authorOf: AuthorOf;
  readonly appointmentOf: (document: FhirDocumentReference) => string | null;
}
