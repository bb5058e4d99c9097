import { randomUUID } from 'node:crypto';
import type { MedicalNote } from '../medical-notes.ts';
import { capability, claimed } from './check.ts';
import { directChange, expectRejection, expectSame, expectThat, given, operation } from './expect.ts';
import { author, findNote, isListed, isNewestFirst, listNotes, noteFacts, noteWrite, writeNote } from './note-steps.ts';
import { anotherPatientId, book, not, passesPatients } from './steps.ts';
import type { Subject } from './subject.ts';

const second = 1000;

function findWrite({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'findMedicalNoteWrite')(careUnit, operationId);
}

function withdraw({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'withdrawMedicalNote')(careUnit, operationId);
}

export const medicalNotes = capability(
  'medical-notes',
  (connector) =>
    connector.listMedicalNotes !== undefined ||
    connector.findMedicalNote !== undefined ||
    connector.createMedicalNote !== undefined,
  {
    'finds a note by id, exactly as it was created': async (subject) => {
      const authorId = await author(subject);
      const text = `First line\r\n\tSecond line: æøå 𝄞 <b>&amp;</b> {\\rtf1}\n\n${randomUUID()}\n`;
      const made = await writeNote(subject, { authorId, title: 'Kontroll <1>', text });
      expectSame(
        [made.title, made.text, made.authorId, made.appointmentId],
        ['Kontroll <1>', text, authorId, null],
        'Title, text, author and appointment of a created note',
      );
      expectSame(await findNote(subject, made).then((it) => it && noteFacts(it)), noteFacts(made), 'The note by id');
      const without = await writeNote(subject, { title: null });
      expectSame([without.title, without.authorId], [null, null], 'Title and author of a note without them');
    },

    'accepts a text of 100,000 characters': async (subject) => {
      const text = 'ä'.repeat(100_000);
      const made = await writeNote(subject, { text });
      expectThat((await findNote(subject, made))?.text === text, 'A long text is not found as it was written');
    },

    'lists notes once, newest first, for any page size': async (subject) => {
      const made: MedicalNote[] = [];
      for (let index = 0; index < 5; index++) made.push(await writeNote(subject));
      const oldest = Math.min(...made.map(({ createdAt }) => createdAt.getTime()));
      const query = { start: new Date(oldest) };
      const whole = await listNotes(subject, query);
      expectThat(isNewestFirst(whole), 'The notes are not in the order newest first, then id descending');
      for (const { id } of made)
        expectThat(
          whole.some((it) => it.id === id),
          'A created note is missing',
        );
      const listed = whole.find(({ id }) => id === made[0]?.id);
      expectSame(listed && noteFacts(listed), made[0] && noteFacts(made[0]), 'A created note in the list');
      for (const limit of [1, 2, 3]) {
        const ids = (await listNotes(subject, query, limit)).map(({ id }) => id);
        expectSame(
          ids,
          whole.map(({ id }) => id),
          `Ids in pages of ${limit}`,
        );
      }
    },

    'filters notes by time': async (subject) => {
      const made = await writeNote(subject);
      const at = made.createdAt.getTime();
      const cases: [string, number | undefined, number | undefined, boolean][] = [
        ['that starts when it was created', at, undefined, true],
        ['that starts later', at + second, undefined, false],
        ['that ends when it was created', undefined, at, false],
        ['that ends later', undefined, at + second, true],
        ['that contains it', at - second, at + second, true],
        ['that is over before', at - 2 * second, at - second, false],
      ];
      for (const [words, start, end, expected] of cases) {
        const range = {
          ...(start === undefined ? {} : { start: new Date(start) }),
          ...(end === undefined ? {} : { end: new Date(end) }),
        };
        expectSame(await isListed(subject, made, range), expected, `A note is listed for a range ${words}`);
      }
    },

    'filters notes by author': async (subject) => {
      const authorId = await author(subject);
      const mine = await writeNote(subject, { authorId });
      const anonymous = await writeNote(subject);
      expectThat(await isListed(subject, mine, { authorId }), 'A note is not listed for its author');
      expectThat(!(await isListed(subject, anonymous, { authorId })), 'A note without author is listed for an author');
      for (const note of await listNotes(subject, { authorId })) {
        expectSame(note.authorId, authorId, 'Author of a note listed for one author');
      }
    },

    'a note of another patient is not found': async (subject) => {
      const { connector, careUnit } = subject;
      const made = await writeNote(subject);
      const other = anotherPatientId(subject);
      const found = await operation(connector, 'findMedicalNote')(careUnit, other, made.id);
      expectThat(found === null, 'A note is found through another patient');
      expectThat(!(await isListed(subject, made, { patientId: other })), 'A note is listed for another patient');
      const nothing = await operation(connector, 'findMedicalNote')(careUnit, made.patientId, 'no-such-note');
      expectSame(nothing, null, 'Result for an unknown note');
    },

    'a note of another care unit is not found': async (subject) => {
      const { connector, otherCareUnit } = subject;
      const other = given(otherCareUnit, 'no other care unit is configured');
      const operationId = randomUUID();
      const made = await writeNote(subject, { operationId });
      const found = await operation(connector, 'findMedicalNote')(other, made.patientId, made.id);
      expectThat(found === null, 'A note is found through another care unit');
      expectThat(!(await isListed(subject, made, { careUnit: other })), 'A note of another care unit is listed');
    },

    'a note names its appointment': async (subject) => {
      const appointment = await book(subject);
      const made = await writeNote(subject, { appointmentId: appointment.id });
      expectSame(made.appointmentId, appointment.id, 'Appointment of a created note');
      expectSame((await findNote(subject, made))?.appointmentId, appointment.id, 'Appointment of a note by id');
    },

    'rejects a note for an unknown patient': claimed([not(passesPatients)], async (subject) => {
      const rejected = writeNote(subject, { patientId: 'no-such-patient' });
      await expectRejection(rejected, 'patient_not_found', 'A note for an unknown patient');
    }),

    'an operation id finds its note': async (subject) => {
      expectSame(await findWrite(subject, randomUUID()), null, 'Result for an unused operation id');
      const operationId = randomUUID();
      const made = await writeNote(subject, { operationId });
      const found = await findWrite(subject, operationId);
      expectSame(found && noteFacts(found), noteFacts(made), 'The note of the operation');
    },

    'concurrent and repeated writes with one operation id create one note': async (subject) => {
      operation(subject.connector, 'findMedicalNoteWrite');
      const write = await noteWrite(subject);
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          writeNote(subject, write, index % 2 ? (subject.second ?? subject.connector) : subject.connector),
        ),
      );
      made.push(await writeNote(subject, { ...write, text: 'another text' }));
      expectSame(new Set(made.map(({ id }) => id)).size, 1, 'Distinct notes returned for one operation id');
      expectSame(made.at(-1)?.text, write.text, 'Text after a repeated write');
      const texts = (await listNotes(subject)).filter(({ text }) => text === write.text);
      expectSame(texts.length, 1, 'Notes created by eleven writes with one operation id');
    },

    'a withdrawn note is neither listed nor found': async (subject) => {
      const operationId = randomUUID();
      const made = await writeNote(subject, { operationId });
      for (let time = 1; time <= 2; time++) {
        expectSame(await withdraw(subject, operationId), 'withdrawn', `Result of withdrawal ${time}`);
      }
      expectSame(await findNote(subject, made), null, 'A withdrawn note, found by its id');
      expectThat(!(await isListed(subject, made)), 'A withdrawn note is listed');
      expectSame(await findWrite(subject, operationId), null, 'The note of a withdrawn operation');
      expectSame(await withdraw(subject, randomUUID()), 'withdrawn', 'Result for an unused operation id');
    },

    'a note changed in the EHR is kept': async (subject) => {
      const changeNote = directChange(subject, 'changeNote');
      const retractNote = directChange(subject, 'retractNote');
      const operationId = randomUUID();
      const made = await writeNote(subject, { operationId });
      await changeNote(made, 'written in the EHR');
      expectSame((await findNote(subject, made))?.text, 'written in the EHR', 'Text of a note changed in the EHR');
      expectSame(await withdraw(subject, operationId), 'changed', 'Withdrawal of a note changed in the EHR');
      expectSame((await findNote(subject, made))?.text, 'written in the EHR', 'Text after the withdrawal');
      await retractNote(made);
    },

    'a note entered in error is neither listed nor found': async (subject) => {
      operation(subject.connector, 'findMedicalNoteWrite');
      const retractNote = directChange(subject, 'retractNote');
      const operationId = randomUUID();
      const made = await writeNote(subject, { operationId });
      await retractNote(made);
      expectSame((await writeNote(subject, { operationId })).id, made.id, 'The note of a repeated write');
      expectSame(await findNote(subject, made), null, 'A note entered in error, found by its id');
      expectThat(!(await isListed(subject, made)), 'A note entered in error is listed');
      expectSame(await withdraw(subject, operationId), 'withdrawn', 'Withdrawal of a note entered in error');
    },
  },
);
