import { randomUUID } from 'node:crypto';
import {
  type CareUnit,
  ConnectorError,
  type MedicalNote,
  type MedicalNoteOperations,
  type MedicalNoteQuery,
  type MedicalNoteWrite,
  type Withdrawal,
} from '@crossward/connector-kit';
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { findAppointments } from './appointment-reads.ts';
import { inPortVocabulary, writeInPortVocabulary } from './database-errors.ts';
import type { Directory } from './directory.ts';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

/** Hash of what somebody can change in a note. */
const contentHash = sql<string>`md5(row(text, title, author_id, appointment_id)::text)`;

export function medicalNotes(db: Db, emr: string, directory: Directory): MedicalNoteOperations {
  return {
    listMedicalNotes: (query) => inPortVocabulary(() => listMedicalNotes(db, emr, query)),
    findMedicalNote: (careUnit, patientId, id) =>
      inPortVocabulary(async () => {
        const row = await selectNotes(db, emr, careUnit)
          .where('patient_id', '=', patientId)
          .where('id', '=', id)
          .executeTakeFirst();
        return row ? medicalNote(row) : null;
      }),
    createMedicalNote: (write) => writeInPortVocabulary(() => createMedicalNote(db, emr, directory, write)),
    findMedicalNoteWrite: (careUnit, operationId) =>
      inPortVocabulary(async () => {
        const row = await selectNotes(db, emr, careUnit).where('operation_id', '=', operationId).executeTakeFirst();
        return row ? medicalNote(row) : null;
      }),
    withdrawMedicalNote: (careUnit, operationId) =>
      writeInPortVocabulary(() => withdrawMedicalNote(db, emr, careUnit, operationId)),
  };
}

async function listMedicalNotes(db: Db, emr: string, query: MedicalNoteQuery): Promise<readonly MedicalNote[]> {
  const { careUnit, patientId, start, end, authorId, after, limit } = query;
  let select = selectNotes(db, emr, careUnit).where('patient_id', '=', patientId);
  if (start) select = select.where('created_at', '>=', start);
  if (end) select = select.where('created_at', '<', end);
  if (authorId !== undefined) select = select.where('author_id', '=', authorId);
  if (after) select = select.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  const rows = await select.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(medicalNote);
}

async function createMedicalNote(
  db: Db,
  emr: string,
  directory: Directory,
  write: MedicalNoteWrite,
): Promise<MedicalNote> {
  await assertKnown(db, emr, directory, write);
  const { operationId, careUnit, patientId, authorId, title, text, appointmentId } = write;
  await sql`
    INSERT INTO sandbox.medical_notes
      (emr, id, care_unit_id, patient_id, author_id, title, text, appointment_id, operation_id, created_hash)
    SELECT *, ${operationId}::uuid, ${contentHash}
    FROM (SELECT ${emr}::text AS emr, ${randomUUID()}::text AS id, ${careUnit.id}::text AS care_unit_id,
      ${patientId}::text AS patient_id, ${authorId}::text AS author_id, ${title}::text AS title, ${text}::text AS text,
      ${appointmentId}::text AS appointment_id) AS note
    ON CONFLICT (emr, operation_id) DO NOTHING`.execute(db);
  const row = await selectWithdrawnToo(db, emr, careUnit).where('operation_id', '=', operationId).executeTakeFirst();
  if (!row) throw new ConnectorError('rejected', 'Another care unit has used the operation id');
  return medicalNote(row);
}

async function withdrawMedicalNote(db: Db, emr: string, careUnit: CareUnit, operationId: string): Promise<Withdrawal> {
  await db
    .updateTable('sandbox.medical_notes')
    .set({ is_entered_in_error: true })
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnit.id)
    .where('operation_id', '=', operationId)
    .where('created_hash', '=', contentHash)
    .execute();
  const left = await selectNotes(db, emr, careUnit).where('operation_id', '=', operationId).executeTakeFirst();
  return left ? 'changed' : 'withdrawn';
}

async function assertKnown(
  db: Db,
  emr: string,
  directory: Directory,
  { careUnit, patientId, authorId, appointmentId }: MedicalNoteWrite,
): Promise<void> {
  if (!(await directory.findPatient({ type: 'emr_id', value: patientId }))) {
    throw new ConnectorError('patient_not_found', 'No such patient');
  }
  if (authorId !== null && !directory.findResource(careUnit.id, { type: 'emr_id', value: authorId })) {
    throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  }
  if (appointmentId === null) return;
  const [appointment] = await findAppointments(db, emr, [appointmentId]);
  if (appointment?.patientId !== patientId || appointment.careUnitId !== careUnit.id) {
    throw new ConnectorError('appointment_not_found', 'The patient has no such appointment in this care unit');
  }
}

type SelectedRow = Pick<
  Selectable<SandboxTables['sandbox.medical_notes']>,
  'id' | 'patient_id' | 'author_id' | 'title' | 'text' | 'appointment_id' | 'created_at'
>;

function selectWithdrawnToo(
  db: Db,
  emr: string,
  careUnit: CareUnit,
): SelectQueryBuilder<SandboxTables, 'sandbox.medical_notes', SelectedRow> {
  return db
    .selectFrom('sandbox.medical_notes')
    .select(['id', 'patient_id', 'author_id', 'title', 'text', 'appointment_id', 'created_at'])
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnit.id);
}

function selectNotes(db: Db, emr: string, careUnit: CareUnit) {
  return selectWithdrawnToo(db, emr, careUnit).where('is_entered_in_error', '=', false);
}

function medicalNote(row: SelectedRow): MedicalNote {
  return {
    id: row.id,
    patientId: row.patient_id,
    createdAt: row.created_at,
    authorId: row.author_id,
    title: row.title,
    text: row.text,
    appointmentId: row.appointment_id,
  };
}
