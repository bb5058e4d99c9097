import { randomUUID } from 'node:crypto';
import type { Document } from '../documents.ts';
import { capability, claimed } from './check.ts';
import {
  contentOf,
  documentFacts,
  documentWrite,
  findDocument,
  inPieces,
  isDocumentListed,
  listDocuments,
  pdf,
  writeDocument,
} from './document-steps.ts';
import { directChange, expectRejection, expectSame, expectThat, given, operation } from './expect.ts';
import { author, isNewestFirst } from './note-steps.ts';
import { anotherPatientId, not, passesPatients } from './steps.ts';
import type { Subject } from './subject.ts';

const mebibyte = 1024 * 1024;
/** Around the sizes at which contents are cut into parts, and the largest that the gateway accepts by default. */
const sizes = [9, 65_535, 65_536, 65_537, mebibyte + 1, 10 * mebibyte];

function findWrite({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'findDocumentWrite')(careUnit, operationId);
}

function withdraw({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'withdrawDocument')(careUnit, operationId);
}

function expectContent(actual: Buffer | null, expected: Buffer, what: string): void {
  expectThat(actual !== null, `${what} is not found`);
  expectThat(
    actual.equals(expected),
    `${what} differs: ${actual.length} bytes instead of ${expected.length}, or others`,
  );
}

export const documents = capability(
  'documents',
  (connector) =>
    connector.listDocuments !== undefined ||
    connector.findDocument !== undefined ||
    connector.readDocument !== undefined ||
    connector.createDocument !== undefined,
  {
    'finds a document by id, exactly as it was created': async (subject) => {
      const authorId = await author(subject);
      const made = await writeDocument(subject, pdf(100), { authorId, title: 'Henvisning <1> æøå' });
      expectSame(
        [made.title, made.authorId, made.contentType],
        ['Henvisning <1> æøå', authorId, 'application/pdf'],
        'Title, author and content type of a created document',
      );
      expectThat(made.size === null || made.size === 100, `The size of a document of 100 bytes is ${made.size}`);
      const found = await findDocument(subject, made);
      expectSame(found && documentFacts(found), documentFacts(made), 'The document by id');
      const without = await writeDocument(subject, pdf(100), { title: null });
      expectSame([without.title, without.authorId], [null, null], 'Title and author of a document without them');
    },

    'returns a content byte for byte, whatever its size': async (subject) => {
      for (const size of sizes) {
        const bytes = pdf(size);
        const made = await writeDocument(subject, bytes, { content: () => inPieces(bytes, 50_000) });
        expectContent(await contentOf(subject, made), bytes, `A content of ${size} bytes`);
      }
    },

    'returns a content of every type': async (subject) => {
      for (const [contentType, bytes] of [
        ['image/png', Buffer.from('89504e470d0a1a0a00ff0d0a', 'hex')],
        ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
        ['text/plain', Buffer.from('Line one: æøå 𝄞\r\nLine two\n\ttab ')],
      ] as const) {
        const made = await writeDocument(subject, bytes, { contentType });
        expectSame(made.contentType, contentType, 'Content type of a created document');
        expectContent(await contentOf(subject, made), bytes, `A content of type ${contentType}`);
      }
    },

    'a content can be left unread': async (subject) => {
      const { connector, careUnit } = subject;
      const bytes = pdf(mebibyte);
      const made = await writeDocument(subject, bytes);
      for (let time = 0; time < 5; time++) {
        const content = await operation(connector, 'readDocument')(careUnit, made.patientId, made.id);
        const iterator = given(content, 'the document was not found').chunks[Symbol.asyncIterator]();
        if (time % 2) await iterator.next();
        await iterator.return?.();
      }
      expectContent(await contentOf(subject, made), bytes, 'A content after readers who left');
    },

    'a content that cannot be read leaves no document': async (subject) => {
      operation(subject.connector, 'findDocumentWrite');
      const operationId = randomUUID();
      const before = (await listDocuments(subject)).length;
      const broken = async function* () {
        yield pdf(100);
        throw new Error('the content broke off');
      };
      const made = writeDocument(subject, pdf(200), { operationId, content: broken });
      const [outcome] = await Promise.allSettled([made]);
      expectSame(outcome.status, 'rejected', 'A document whose content breaks off');
      expectSame(await findWrite(subject, operationId), null, 'The document of a write whose content broke off');
      expectSame((await listDocuments(subject)).length, before, 'Documents after a content that broke off');
      const again = await writeDocument(subject, pdf(200, 'again'), { operationId });
      expectContent(await contentOf(subject, again), pdf(200, 'again'), 'A content after a retry');
    },

    'lists documents once, newest first, for any page size': async (subject) => {
      const made: Document[] = [];
      for (let index = 0; index < 5; index++) made.push(await writeDocument(subject));
      const whole = await listDocuments(subject);
      expectThat(isNewestFirst(whole), 'The documents are not in the order newest first, then id descending');
      for (const { id } of made) {
        const isListed = whole.some((it) => it.id === id);
        expectThat(isListed, 'A created document is missing');
      }
      const listed = whole.find(({ id }) => id === made[0]?.id);
      expectSame(listed && documentFacts(listed), made[0] && documentFacts(made[0]), 'A created document in the list');
      for (const limit of [1, 2, 3]) {
        const ids = (await listDocuments(subject, {}, limit)).map(({ id }) => id);
        expectSame(
          ids,
          whole.map(({ id }) => id),
          `Ids in pages of ${limit}`,
        );
      }
    },

    'a document of another patient is not found': async (subject) => {
      const { connector, careUnit } = subject;
      const made = await writeDocument(subject);
      const other = anotherPatientId(subject);
      expectThat(!(await findDocument(subject, { ...made, patientId: other })), 'Found through another patient');
      expectThat(!(await contentOf(subject, { ...made, patientId: other })), 'Content found through another patient');
      expectThat(!(await isDocumentListed(subject, made, { patientId: other })), 'Listed for another patient');
      const nothing = await operation(connector, 'findDocument')(careUnit, made.patientId, 'no-such-document');
      expectSame(nothing, null, 'Result for an unknown document');
    },

    'a document of another care unit is not found': async (subject) => {
      const { connector, otherCareUnit } = subject;
      const other = given(otherCareUnit, 'no other care unit is configured');
      const made = await writeDocument(subject);
      const found = await operation(connector, 'findDocument')(other, made.patientId, made.id);
      expectThat(found === null, 'A document is found through another care unit');
      const content = await operation(connector, 'readDocument')(other, made.patientId, made.id);
      expectThat(content === null, 'A content is found through another care unit');
      expectThat(!(await isDocumentListed(subject, made, { careUnit: other })), 'Listed for another care unit');
    },

    'rejects a document for an unknown patient': claimed([not(passesPatients)], async (subject) => {
      const rejected = writeDocument(subject, pdf(100), { patientId: 'no-such-patient' });
      await expectRejection(rejected, 'patient_not_found', 'A document for an unknown patient');
    }),

    'an operation id finds its document': async (subject) => {
      expectSame(await findWrite(subject, randomUUID()), null, 'Result for an unused operation id');
      const operationId = randomUUID();
      const made = await writeDocument(subject, pdf(100), { operationId });
      const found = await findWrite(subject, operationId);
      expectSame(found && documentFacts(found), documentFacts(made), 'The document of the operation');
    },

    'concurrent and repeated writes with one operation id create one document': async (subject) => {
      operation(subject.connector, 'findDocumentWrite');
      const { connector, second } = subject;
      const before = (await listDocuments(subject)).length;
      const bytes = pdf(70_000);
      const write = await documentWrite(subject, bytes);
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          writeDocument(subject, bytes, write, index % 2 && second?.createDocument ? second : connector),
        ),
      );
      const other = pdf(100);
      made.push(await writeDocument(subject, other, { ...write, size: other.length, content: () => inPieces(other) }));
      const ids = new Set(made.map(({ id }) => id));
      expectSame(ids.size, 1, 'Distinct documents returned for one operation id');
      expectSame(
        (await listDocuments(subject)).length,
        before + 1,
        'Documents after eleven writes with one operation id',
      );
      const [first] = made;
      if (first) expectContent(await contentOf(subject, first), bytes, 'A content after a repeated write');
    },

    'a withdrawn document is neither listed nor found': async (subject) => {
      const operationId = randomUUID();
      const made = await writeDocument(subject, pdf(100), { operationId });
      for (let time = 1; time <= 2; time++) {
        expectSame(await withdraw(subject, operationId), 'withdrawn', `Result of withdrawal ${time}`);
      }
      expectSame(await findDocument(subject, made), null, 'A withdrawn document, found by its id');
      expectThat((await contentOf(subject, made)) === null, 'The content of a withdrawn document is found');
      expectThat(!(await isDocumentListed(subject, made)), 'A withdrawn document is listed');
      expectSame(await findWrite(subject, operationId), null, 'The document of a withdrawn operation');
      expectSame(await withdraw(subject, randomUUID()), 'withdrawn', 'Result for an unused operation id');
    },

    'a document changed in the EHR is kept': async (subject) => {
      const change = directChange(subject, 'changeDocument');
      const retract = directChange(subject, 'retractDocument');
      const operationId = randomUUID();
      const made = await writeDocument(subject, pdf(100), { operationId });
      await change(made, 'Renamed in the EHR');
      expectSame((await findDocument(subject, made))?.title, 'Renamed in the EHR', 'Title changed in the EHR');
      expectSame(await withdraw(subject, operationId), 'changed', 'Withdrawal of a document changed in the EHR');
      expectSame((await findDocument(subject, made))?.title, 'Renamed in the EHR', 'Title after the withdrawal');
      await retract(made);
    },

    'a document entered in error is neither listed nor found': async (subject) => {
      operation(subject.connector, 'findDocumentWrite');
      const retract = directChange(subject, 'retractDocument');
      const operationId = randomUUID();
      const made = await writeDocument(subject, pdf(100), { operationId });
      await retract(made);
      const again = await writeDocument(subject, pdf(100), { operationId });
      expectSame(again.id, made.id, 'The document of a repeated write');
      expectSame(await findDocument(subject, made), null, 'A document entered in error, found by its id');
      expectThat((await contentOf(subject, made)) === null, 'The content of a document entered in error is found');
      expectThat(!(await isDocumentListed(subject, made)), 'A document entered in error is listed');
      expectSame(await withdraw(subject, operationId), 'withdrawn', 'Withdrawal of a document entered in error');
    },
  },
);
