import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import type { MedicalNote } from '../medical-notes.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';

const { database, dispose } = await createTestDatabase();
const correct = await sandboxSubject('correct', database.pool);
afterAll(dispose);

function writing(right: CompleteConnector, alter: (note: MedicalNote) => MedicalNote): Defects {
  return { createMedicalNote: async (write) => alter(await right.createMedicalNote(write)) };
}

function reading(right: CompleteConnector, alter: (note: MedicalNote) => MedicalNote): Defects {
  return {
    findMedicalNote: async (...input) => {
      const note = await right.findMedicalNote(...input);
      return note && alter(note);
    },
  };
}

const variants: [string, check: string, (right: CompleteConnector) => Defects][] = [
  [
    'trims the text',
    'finds a note by id, exactly as it was created',
    (right) => reading(right, (note) => ({ ...note, text: note.text.trim() })),
  ],
  [
    'forgets the author',
    'finds a note by id, exactly as it was created',
    (right) => writing(right, (note) => ({ ...note, authorId: null })),
  ],
  [
    'shortens a long text',
    'accepts a text of 100,000 characters',
    (right) => reading(right, (note) => ({ ...note, text: note.text.slice(0, 65_535) })),
  ],
  [
    'lists the oldest note first',
    'lists notes once, newest first, for any page size',
    (right) => ({ listMedicalNotes: async (query) => (await right.listMedicalNotes(query)).toReversed() }),
  ],
  [
    'repeats the last note of a page',
    'lists notes once, newest first, for any page size',
    (right) => ({
      listMedicalNotes: ({ after, ...query }) =>
        right.listMedicalNotes({ ...query, after: after && { ...after, id: `${after.id}~` } }),
    }),
  ],
  [
    'ignores the end of the range',
    'filters notes by time',
    (right) => ({ listMedicalNotes: ({ end: _, ...query }) => right.listMedicalNotes(query) }),
  ],
  [
    'includes the end of the range',
    'filters notes by time',
    (right) => ({
      listMedicalNotes: ({ end, ...query }) =>
        right.listMedicalNotes({ ...query, end: end && new Date(end.getTime() + 1) }),
    }),
  ],
  [
    'ignores the author in a list',
    'filters notes by author',
    (right) => ({ listMedicalNotes: ({ authorId: _, ...query }) => right.listMedicalNotes(query) }),
  ],
  [
    'finds a note through another patient',
    'a note of another patient is not found',
    (right) => ({
      async findMedicalNote(unit, patientId, id) {
        const note = await right.findMedicalNote(unit, 'p-1', id);
        return note && { ...note, patientId };
      },
    }),
  ],
  [
    'finds a note through another care unit',
    'a note of another care unit is not found',
    (right) => ({ findMedicalNote: (_, patientId, id) => right.findMedicalNote(correct.careUnit, patientId, id) }),
  ],
  [
    'lists notes of another care unit',
    'a note of another care unit is not found',
    (right) => ({
      listMedicalNotes: (query) => right.listMedicalNotes({ ...query, careUnit: correct.careUnit }),
    }),
  ],
  [
    'forgets the appointment',
    'a note names its appointment',
    (right) => ({
      createMedicalNote: (write) => right.createMedicalNote({ ...write, appointmentId: null }),
    }),
  ],
  [
    'writes a note for an unknown patient',
    'rejects a note for an unknown patient',
    (right) => ({ createMedicalNote: (write) => right.createMedicalNote({ ...write, patientId: 'p-1' }) }),
  ],
  [
    'finds nothing by operation id',
    'an operation id finds its note',
    () => ({ findMedicalNoteWrite: async () => null }),
  ],
  [
    'creates a note for each write',
    'concurrent and repeated writes with one operation id create one note',
    (right) => ({
      createMedicalNote: (write) => right.createMedicalNote({ ...write, operationId: randomUUID() }),
    }),
  ],
  [
    'withdraws nothing',
    'a withdrawn note is neither listed nor found',
    () => ({ withdrawMedicalNote: async () => 'withdrawn' }),
  ],
  [
    'claims to have withdrawn a changed note',
    'a note changed in the EHR is kept',
    (right) => ({
      async withdrawMedicalNote(...input) {
        await right.withdrawMedicalNote(...input);
        return 'withdrawn';
      },
    }),
  ],
  [
    'shows a note that was entered in error',
    'a note entered in error is neither listed nor found',
    (right) => {
      let last: MedicalNote | null = null;
      return {
        createMedicalNote: async (write) => {
          last = await right.createMedicalNote(write);
          return last;
        },
        findMedicalNote: async () => last,
      };
    },
  ],
];

describe('the kit catches a connector that', () => {
  test.each(variants)('%s', async (_, check, defects) => {
    const result = await outcomeOf(withDefects(correct, defects), 'medical-notes', check);
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.not.stringMatching(/^The connector threw/) });
  });
});
