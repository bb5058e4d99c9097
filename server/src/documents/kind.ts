import type { Document } from '@crossward/connector-kit';
import { oneCallKind } from '../api/one-call-kind.ts';
import { readUpload } from '../uploads/read-upload.ts';
import { deleteUpload } from '../uploads/remove-uploads.ts';
import { type DocumentPlan, documentKindName } from './plan.ts';
import { reconcileDocument } from './reconcile.ts';
import { documentBody, documentPath } from './representation.ts';

/** Storing a document in the EHR. */
export const documentKind = oneCallKind<DocumentPlan, Document>({
  name: documentKindName,
  findOperation: 'findDocumentWrite',
  patientOf: ({ patientId }) => patientId,
  create: (work, write, { upload, requestedAt: _, ...document }) =>
    work.call('createDocument', {
      ...write,
      ...document,
      size: upload.size,
      content: () => work.underLease(readUpload(work.services, upload)),
    }),
  find: (work, operationId) => work.call('findDocumentWrite', work.careUnit, operationId),
  reconcile: reconcileDocument,
  withdraw: (work, operationId) => work.call('withdrawDocument', work.careUnit, operationId),
  respond: ({ ehr, careUnit }, _plan, document) => ({
    status: 201,
    body: documentBody(document, careUnit),
    headers: { location: documentPath(ehr, careUnit, document) },
  }),
  cleanUp: (tx, { upload }) => deleteUpload(tx, upload.id),
});
