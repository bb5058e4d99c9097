import { randomUUID } from 'node:crypto';
import type { Connector } from '../connector.ts';
import type { MedicalNote, MedicalNoteQuery, MedicalNoteWrite } from '../medical-notes.ts';
import { expectSame, expectThat, given, operation } from './expect.ts';
import { patientId } from './steps.ts';
import type { Subject } from './subject.ts';

/** A new note for the known patient, with its own operation id. */
export async function noteWrite(subject: Subject, fields: Partial<MedicalNoteWrite> = {}): Promise<MedicalNoteWrite> {
  const { careUnit } = subject;
  const content = { authorId: null, title: 'Conformance', text: `Note ${randomUUID()}`, appointmentId: null };
  return { operationId: randomUUID(), careUnit, patientId: await patientId(subject), ...content, ...fields };
}

export async function writeNote(
  subject: Subject,
  fields: Partial<MedicalNoteWrite> = {},
  through: Connector = subject.connector,
): Promise<MedicalNote> {
  return operation(through, 'createMedicalNote')(await noteWrite(subject, fields));
}

export async function findNote({ connector, careUnit }: Subject, note: MedicalNote): Promise<MedicalNote | null> {
  return operation(connector, 'findMedicalNote')(careUnit, note.patientId, note.id);
}

/** All notes of the known patient that match, read in pages of `limit`. */
export async function listNotes(
  subject: Subject,
  query: Partial<MedicalNoteQuery> = {},
  limit = 50,
): Promise<readonly MedicalNote[]> {
  const { connector, careUnit } = subject;
  const list = operation(connector, 'listMedicalNotes');
  const found: MedicalNote[] = [];
  const mine = { careUnit, patientId: await patientId(subject) };
  for (let after: MedicalNote | undefined; ; after = found.at(-1)) {
    const page = await list({ ...mine, ...query, after, limit });
    expectThat(page.length <= limit, `A page of at most ${limit} has ${page.length} entries`);
    found.push(...page);
    if (page.length < limit) return found;
    expectSame(new Set(found.map(({ id }) => id)).size, found.length, 'Number of distinct notes in the pages');
  }
}

export async function isListed(
  subject: Subject,
  { id }: MedicalNote,
  query: Partial<MedicalNoteQuery> = {},
): Promise<boolean> {
  return (await listNotes(subject, query)).some((note) => note.id === id);
}

/** A practitioner of the care unit, by the EHR's own id. */
export async function author({ connector, careUnit }: Subject): Promise<string> {
  const resources = await operation(connector, 'listResources')(careUnit);
  return given(
    resources.find(({ kind }) => kind === 'practitioner'),
    'the care unit has no practitioner',
  ).id;
}

/** The fields of a note, without the patient's id. */
export function noteFacts({ patientId: _, ...note }: MedicalNote): Omit<MedicalNote, 'patientId'> {
  return note;
}

/** Whether notes or documents are sorted from the newest to the oldest, then by id (code units) descending. */
export function isNewestFirst(notes: readonly Pick<MedicalNote, 'createdAt' | 'id'>[]): boolean {
  return notes.every((note, index) => {
    const before = notes[index - 1];
    if (!before) return true;
    const elapsed = before.createdAt.getTime() - note.createdAt.getTime();
    return elapsed > 0 || (elapsed === 0 && before.id > note.id);
  });
}
