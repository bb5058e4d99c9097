import { ConnectorError, type Document, type DocumentWrite } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type Attachment, type Coding, type FhirDocumentReference, localReference } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';
import type { AuthorOf } from './authors.ts';
import { careUnitElements } from './care-unit.ts';
import { createdAt } from './document-reference.ts';
import { noteCodings } from './medical-note.ts';

export interface DocumentCodings {
  readonly category: Coding | undefined;
  readonly type: Coding;
}

/** The extension that keeps which Binary has the content, for servers that replace the URL. */
const binaryUrl = 'urn:crossward:binary';

/** https://loinc.org/34133-9 */
const summary = { system: 'http://loinc.org', code: '34133-9', display: 'Summary of episode note' };

/** @throws ConnectorError if new documents would have the category of notes */
export function documentCodings(settings: FhirSettings): DocumentCodings {
  const { category, type = summary } = settings.documents ?? {};
  const note = noteCodings(settings).category;
  if (category && category.system === note.system && category.code === note.code) {
    throw new ConnectorError('rejected', 'documents.category must differ from the category of medical notes');
  }
  return { category, type };
}

/** The attachment, if there is exactly one. A document with several has no single content. */
export function onlyAttachment({ content = [] }: FhirDocumentReference): Attachment | undefined {
  const attachment = content.length === 1 ? content[0]?.attachment : undefined;
  return attachment?.data === undefined && attachment?.url === undefined ? undefined : attachment;
}

/** The Binary that the gateway has stored as the content of this document: `Binary/17`. */
export function storedBinary({ extension }: FhirDocumentReference): string | undefined {
  return extension?.find(({ url }) => url === binaryUrl)?.valueString;
}

export interface NewDocument {
  readonly write: DocumentWrite;
  readonly patientId: string;
  readonly author: { readonly reference: string } | undefined;
  readonly directory: CareUnitDirectory;
  /** `Binary/17` */
  readonly binary: string;
}

/** A new document: https://hl7.org/fhir/R4/documentreference.html */
export function documentReference(
  { write: { title, contentType, size }, patientId, author, directory, binary }: NewDocument,
  { category, type }: DocumentCodings,
): FhirDocumentReference {
  const now = new Date().toISOString();
  const { elements, related } = careUnitElements(directory);
  const name = title === null ? {} : { title };
  return {
    resourceType: 'DocumentReference',
    ...elements,
    extension: [{ url: binaryUrl, valueString: binary }],
    status: 'current',
    docStatus: 'final',
    type: { coding: [type] },
    ...(category ? { category: [{ coding: [category] }] } : {}),
    subject: { reference: `Patient/${patientId}` },
    date: now,
    ...(author ? { author: [author] } : {}),
    ...(title === null ? {} : { description: title }),
    content: [{ attachment: { contentType, url: binary, size, ...name, creation: now } }],
    ...(related.length > 0 ? { context: { related } } : {}),
  };
}

/** Converts a document that has one attachment. */
export function toDocument(document: FhirDocumentReference, authorOf: AuthorOf): Document {
  const { title, contentType, size, data } = onlyAttachment(document) ?? {};
  return {
    id: document.id ?? '',
    patientId: localReference(document.subject)?.replace(/^Patient\//, '') ?? '',
    createdAt: createdAt(document),
    authorId: authorOf(document),
    title: title ?? document.description ?? null,
    contentType: contentType ?? 'application/octet-stream',
    size: data === undefined ? (size ?? null) : Buffer.byteLength(data, 'base64'),
  };
}
