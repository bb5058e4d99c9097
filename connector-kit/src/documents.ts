import type { CareUnit } from './records.ts';
import type { Withdrawal, Write } from './writes.ts';

/** Media types that a document can have. */
export const documentContentTypes = ['application/pdf', 'image/png', 'image/jpeg', 'text/plain'] as const;
export type DocumentContentType = (typeof documentContentTypes)[number];

/** A document of a patient, stored at one care unit. */
export interface Document {
  readonly id: string;
  readonly patientId: string;
  readonly createdAt: Date;
  /** The resource that stored the document, by the EHR's own id. `null`: not known. */
  readonly authorId: string | null;
  readonly title: string | null;
  /** As recorded in the EHR, which may hold other media types than `documentContentTypes`. */
  readonly contentType: string;
  /** Bytes. `null`: not known. */
  readonly size: number | null;
}

/** Paging position: the sort keys of the last document that the caller has already seen. */
export interface DocumentPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** Which documents to list. */
export interface DocumentQuery {
  readonly careUnit: CareUnit;
  readonly patientId: string;
  readonly after?: DocumentPosition | undefined;
  readonly limit: number;
}

/** The bytes of a document. The caller reads `chunks` to the end or calls its `return`. */
export interface DocumentContent {
  readonly contentType: string;
  /** Bytes. `null`: not known before the end. */
  readonly size: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A document to store. */
export interface DocumentWrite extends Write {
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  readonly contentType: DocumentContentType;
  /** Bytes. */
  readonly size: number;
  /** Reads the content from its beginning. May be called again for a retry. */
  readonly content: () => AsyncIterable<Uint8Array>;
}

/** Documents that the EHR marks as entered in error are neither listed nor found. */
export interface DocumentOperations {
  /** The patient's documents at the care unit, newest first, then by id descending: at most `limit`, after `after`. */
  listDocuments(query: DocumentQuery): Promise<readonly Document[]>;
  /** The document of this patient at this care unit, or `null`. */
  findDocument(careUnit: CareUnit, patientId: string, documentId: string): Promise<Document | null>;
  /** The content of this document, or `null`. */
  readDocument(careUnit: CareUnit, patientId: string, documentId: string): Promise<DocumentContent | null>;
  /** Stores a document. A second call with the same operation id changes nothing and returns the document of the first. */
  createDocument(write: DocumentWrite): Promise<Document>;
  /** The document of the write with this operation id. `null`: the write was never done, or it was withdrawn. */
  findDocumentWrite(careUnit: CareUnit, operationId: string): Promise<Document | null>;
  /** Marks the document of `operationId` as entered in error, unless somebody has changed it since. */
  withdrawDocument(careUnit: CareUnit, operationId: string): Promise<Withdrawal>;
}
