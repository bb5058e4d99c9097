import {
  ConnectorError,
  type MedicalNote,
  type MedicalNoteOperations,
  type MedicalNoteQuery,
  type MedicalNoteWrite,
} from '@crossward/connector-kit';
import { compareNewest, newestPage, requireResource } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import type { At, Ehr } from '../ehr.ts';
import { requirePatient } from '../patients.ts';
import { createdId } from '../rpc/answer.ts';
import { type Domain, equal } from '../rpc/client.ts';
import { idSchema, nullable, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc, recordId, toRpc } from '../rpc/values.ts';

const model = 'gnuhealth.patient.evaluation';

/** The texts of an evaluation, as its form shows them. A note of the gateway is in `notes`. */
const texts = {
  notes_complaint: 'Complaint details',
  present_illness: 'Present illness',
  evaluation_summary: 'Clinical and physical',
  info_diagnosis: 'Diagnosis',
  directions: 'Therapeutic plan',
  notes: 'Notes',
} as const;
type TextField = keyof typeof texts;

const positionSchema = Type.Object({ id: idSchema, create_date: dateTimeSchema });

const evaluationSchema = Type.Object({
  ...positionSchema.properties,
  patient: idSchema,
  healthprof: nullable(idSchema),
  appointment: nullable(idSchema),
  chief_complaint: textSchema,
  notes_complaint: textSchema,
  present_illness: textSchema,
  evaluation_summary: textSchema,
  info_diagnosis: textSchema,
  directions: textSchema,
  notes: textSchema,
});
type Evaluation = Readonly<Static<typeof evaluationSchema>>;

/** Evaluations. The server keeps no operation ids for them and lets nobody delete them, so writes cannot be withdrawn. */
export function medicalNotes(ehr: Ehr): Partial<MedicalNoteOperations> {
  const { note_author } = ehr.settings;
  return {
    listMedicalNotes: (query) => list(ehr.at(query.careUnit), query),
    findMedicalNote: (careUnit, patientId, noteId) => find(ehr.at(careUnit), patientId, recordId(noteId)),
    ...(note_author === undefined
      ? {}
      : { createMedicalNote: (write) => create(ehr.at(write.careUnit), write, note_author) }),
  };
}

async function list(at: At, query: MedicalNoteQuery): Promise<readonly MedicalNote[]> {
  const { patientId, start, end, authorId } = query;
  const patient = recordId(patientId);
  const author = authorId === undefined ? undefined : recordId(authorId);
  if (patient === undefined || (authorId !== undefined && author === undefined)) return [];
  const domain = [
    ...atCareUnit(at, patient),
    ...(start ? [['create_date', '>=', toRpc(start)]] : []),
    ...(end ? [['create_date', '<', toRpc(end)]] : []),
    ...(author === undefined ? [] : equal({ healthprof: author })),
  ];
  const known = await at.client.searchRead({ model, row: positionSchema, domain });
  // A patient has few enough that the server need not page: it would sort ids as numbers.
  const positions = known.map(({ id, create_date }) => ({ id: String(id), createdAt: fromRpc(create_date) }));
  const ids = newestPage(positions, query).map(({ id }) => Number(id));
  if (ids.length === 0) return [];
  const found = await at.client.searchRead({ model, row: evaluationSchema, domain: [['id', 'in', ids]] });
  return found
    .map((it) => toNote(it, at))
    .filter((note) => note.patientId === patientId)
    .sort(compareNewest);
}

async function find(at: At, patientId: string, id: number | undefined): Promise<MedicalNote | null> {
  const patient = recordId(patientId);
  if (id === undefined || patient === undefined) return null;
  const domain = [...atCareUnit(at, patient), ...equal({ id })];
  const [found] = await at.client.searchAll({ model, row: evaluationSchema, domain });
  return found ? toNote(found, at) : null;
}

async function create(at: At, write: MedicalNoteWrite, gateway: number): Promise<MedicalNote> {
  const { patientId, authorId, title, text, appointmentId } = write;
  const { patient } = await requirePatient(at.client, patientId);
  const author = authorId === null ? gateway : recordId(authorId);
  if (author !== gateway) await requireResource(at.lists, String(authorId));
  const values = {
    patient,
    healthprof: author,
    institution: at.unit.institution,
    appointment: appointmentId === null ? null : (recordId(appointmentId) ?? null),
    chief_complaint: title,
    notes: text,
    evaluation_start: toRpc(at.client.now()),
  };
  const answer = await at.client.write(`model.${model}.create`, [[values]], { repeatable: false });
  const note = await find(at, patientId, createdId(answer, 'a note'));
  if (!note) throw new ConnectorError('outcome_unknown', 'A note was written and cannot be read');
  return note;
}

/** An evaluation without an institution is shown by every care unit. */
function atCareUnit({ unit }: At, patient: number): Domain {
  return [...equal({ patient }), ['institution', 'in', [unit.institution, null]]];
}

function toNote(found: Evaluation, { settings }: At): MedicalNote {
  const { id, patient, healthprof, appointment, chief_complaint, create_date } = found;
  return {
    id: String(id),
    patientId: String(patient),
    createdAt: fromRpc(create_date),
    authorId: healthprof === null || healthprof === settings.note_author ? null : String(healthprof),
    title: chief_complaint || null,
    text: textOf(found),
    appointmentId: appointment === null ? null : String(appointment),
  };
}

/** One text as it is; several under their headings. */
function textOf(found: Evaluation): string {
  const written = Object.entries(texts).flatMap(([field, heading]) => {
    const text = found[field as TextField];
    return text ? [{ heading, text }] : [];
  });
  const [only, another] = written;
  if (!only) return '';
  return another ? written.map(({ heading, text }) => `${heading}:\n${text}`).join('\n\n') : only.text;
}
