import { randomUUID } from 'node:crypto';
import {
  type CareUnit,
  ConnectorError,
  type Document,
  type DocumentContent,
  type DocumentQuery,
  type DocumentWrite,
  type Withdrawal,
} from '@crossward/connector-kit';
import { type Kysely, sql } from 'kysely';
import type { Directory } from './directory.ts';
import { deleteContent, readContent, storeContent } from './document-content.ts';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

const columns = ['id', 'patient_id', 'created_at', 'author_id', 'title', 'content_type', 'size'] as const;

/** The patient's documents at the care unit, newest first. */
export async function listDocuments(
  db: Db,
  emr: string,
  { careUnit, patientId, after, limit }: DocumentQuery,
): Promise<readonly Document[]> {
  const rows = await current(db, emr, careUnit)
    .select(columns)
    .where('patient_id', '=', patientId)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.createdAt}, ${after?.id})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(documentOf);
}

export async function findDocument(
  db: Db,
  emr: string,
  careUnit: CareUnit,
  patientId: string,
  documentId: string,
): Promise<Document | null> {
  const row = await current(db, emr, careUnit)
    .select(columns)
    .where('patient_id', '=', patientId)
    .where('id', '=', documentId)
    .executeTakeFirst();
  return row ? documentOf(row) : null;
}

export async function readDocument(
  db: Db,
  emr: string,
  careUnit: CareUnit,
  patientId: string,
  documentId: string,
): Promise<DocumentContent | null> {
  const row = await current(db, emr, careUnit)
    .select(['content_id', 'content_type', 'size'])
    .where('patient_id', '=', patientId)
    .where('id', '=', documentId)
    .executeTakeFirst();
  if (!row) return null;
  return { contentType: row.content_type, size: row.size, chunks: readContent(db, emr, row.content_id) };
}

/**
 * Stores the content first, chunk by chunk, and then the document with its operation id in one statement. Of two calls
 * with the same id, one stores the document, and the other deletes its content again.
 */
export async function createDocument(
  db: Db,
  emr: string,
  directory: Directory,
  write: DocumentWrite,
): Promise<Document> {
  await assertKnown(directory, write);
  const known = await findCreated(db, emr, write.operationId);
  if (known) return known;
  const contentId = randomUUID();
  try {
    await storeContent(db, emr, contentId, write.content());
    await db
      .insertInto('sandbox.documents')
      .values({
        emr,
        id: randomUUID(),
        care_unit_id: write.careUnit.id,
        patient_id: write.patientId,
        author_id: write.authorId,
        title: write.title,
        content_type: write.contentType,
        size: write.size,
        content_id: contentId,
        operation_id: write.operationId,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  } finally {
    await deleteContent(db, emr, contentId);
  }
  const stored = await findCreated(db, emr, write.operationId);
  if (!stored) throw new Error('Every write leaves a document');
  return stored;
}

/** The document of a write. `null`: the write was never done, or the document was withdrawn. */
export async function findDocumentWrite(db: Db, emr: string, operationId: string): Promise<Document | null> {
  return findByOperation(db, emr, operationId);
}

/** Marks the document as entered in error. One that somebody has changed stays. */
export async function withdrawDocument(db: Db, emr: string, operationId: string): Promise<Withdrawal> {
  const row = await db
    .updateTable('sandbox.documents')
    .set({ is_entered_in_error: true })
    .where('emr', '=', emr)
    .where('operation_id', '=', operationId)
    .where('changed_at', 'is', null)
    .executeTakeFirst();
  if (row.numUpdatedRows > 0n) return 'withdrawn';
  return (await findByOperation(db, emr, operationId)) ? 'changed' : 'withdrawn';
}

async function findByOperation(db: Db, emr: string, operationId: string): Promise<Document | null> {
  const row = await created(db, emr, operationId).where('is_entered_in_error', '=', false).executeTakeFirst();
  return row ? documentOf(row) : null;
}

/** Also one that is entered in error: a repeated write does not bring it back. */
async function findCreated(db: Db, emr: string, operationId: string): Promise<Document | null> {
  const row = await created(db, emr, operationId).executeTakeFirst();
  return row ? documentOf(row) : null;
}

function created(db: Db, emr: string, operationId: string) {
  return db
    .selectFrom('sandbox.documents')
    .select(columns)
    .where('emr', '=', emr)
    .where('operation_id', '=', operationId);
}

function current(db: Db, emr: string, careUnit: CareUnit) {
  return db
    .selectFrom('sandbox.documents')
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnit.id)
    .where('is_entered_in_error', '=', false);
}

interface Row {
  readonly id: string;
  readonly patient_id: string;
  readonly created_at: Date;
  readonly author_id: string | null;
  readonly title: string | null;
  readonly content_type: string;
  readonly size: number;
}

function documentOf(row: Row): Document {
  return {
    id: row.id,
    patientId: row.patient_id,
    createdAt: row.created_at,
    authorId: row.author_id,
    title: row.title,
    contentType: row.content_type,
    size: row.size,
  };
}

async function assertKnown(directory: Directory, { careUnit, patientId, authorId }: DocumentWrite): Promise<void> {
  if (!(await directory.findPatient({ type: 'emr_id', value: patientId }))) {
    throw new ConnectorError('patient_not_found', 'No such patient');
  }
  if (authorId !== null && !directory.findResource(careUnit.id, { type: 'emr_id', value: authorId })) {
    throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  }
}
