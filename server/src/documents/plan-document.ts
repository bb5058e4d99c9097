import type { DocumentContentType, Patient } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { requireAuthor } from '../api/authors.ts';
import type { Access } from '../api/endpoint.ts';
import { reachedPatient } from '../context/work-context.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { adoptUpload } from '../uploads/remove-uploads.ts';
import type { Upload } from '../uploads/upload.ts';
import { type PlannedWrite, plannedWrite } from '../writes/write-kind.ts';
import type { documentCreationSchema } from './contract.ts';
import { documentKind } from './kind.ts';

type Creation = Access & {
  /** Whom the document is for. Was looked up before the content was stored. */
  readonly receiver: Promise<Patient> | undefined;
  readonly body: Static<typeof documentCreationSchema>;
  readonly upload: Upload | undefined;
  readonly readHeader: ReadHeader;
};

/** Plans to store a document in the EHR. Its content has been received, and its bytes say what it is. */
export async function planDocument({ receiver, body, upload, readHeader, ...access }: Creation): Promise<PlannedWrite> {
  if (!upload || !receiver) throw new Error('The content of the body was not received');
  if (upload.size === 0) throw problemAt(inBody('content'), 'request_invalid', '/content must not be empty.');
  assertSameType(body.content_type, upload.contentType);
  const { id, identifiers } = await receiver;
  reachedPatient({ type: 'emr_id', value: id }, ...identifiers);
  const author = body.author_id === undefined ? undefined : await requireAuthor(access, body.author_id, readHeader);
  const plan = {
    requestedAt: new Date(),
    patientId: id,
    authorId: author?.id ?? null,
    title: body.title ?? null,
    contentType: body.content_type,
    upload: { id: upload.id, size: upload.size, sha256: upload.sha256 },
  };
  return plannedWrite(documentKind, plan, async (tx, writeId) => {
    await adoptUpload(tx, upload, writeId);
    return undefined;
  });
}

/** @throws Problem `content_type_mismatch` */
function assertSameType(label: DocumentContentType, found: DocumentContentType | undefined): void {
  if (found === label) return;
  const what = found === undefined ? 'none of the supported types' : found;
  throw problemAt(inBody('content'), 'content_type_mismatch', `The content is ${what}, not ${label}.`);
}
