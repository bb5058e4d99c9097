import type { Document, DocumentContentType } from '@crossward/connector-kit';
import { recordKind } from '../operations/record-kind.ts';
import { readUpload } from '../uploads/read-upload.ts';
import { deleteUpload } from '../uploads/remove-uploads.ts';
import { documentBody, documentPath } from './representation.ts';

/** Refers to the content, which is stored until the operation ends. */
export interface DocumentPlan {
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  readonly contentType: DocumentContentType;
  readonly upload: { readonly id: string; readonly size: number };
}

/** Storing a document in the EHR. */
export const documentKind = recordKind<DocumentPlan, Document>({
  name: 'document',
  findOperation: 'findDocumentWrite',
  create: (work, write, { upload, ...document }) =>
    work.call('createDocument', {
      ...write,
      ...document,
      size: upload.size,
      content: () => work.underLease(readUpload(work.services, upload)),
    }),
  find: (work, operationId) => work.call('findDocumentWrite', work.careUnit, operationId),
  withdraw: (work, operationId) => work.call('withdrawDocument', work.careUnit, operationId),
  respond: ({ ehr, careUnit }, _plan, document) => ({
    status: 201,
    body: documentBody(document, careUnit),
    headers: { location: documentPath(ehr, careUnit, document) },
  }),
  release: (tx, { upload }) => deleteUpload(tx, upload.id),
});
