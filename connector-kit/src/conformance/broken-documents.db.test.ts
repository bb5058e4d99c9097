import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import type { Document } from '../documents.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';

const { database, dispose } = await createTestDatabase();
const correct = await sandboxSubject('correct', database.pool);
afterAll(dispose);

/** Alters the chunks of a content. */
function reading(
  right: CompleteConnector,
  alter: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Defects {
  return {
    async readDocument(...input) {
      const content = await right.readDocument(...input);
      return content && { ...content, size: null, chunks: alter(content.chunks) };
    },
  };
}

const variants: [string, check: string, (right: CompleteConnector) => Defects][] = [
  [
    'forgets the title',
    'finds a document by id, exactly as it was created',
    (right) => ({ createDocument: (write) => right.createDocument({ ...write, title: null }) }),
  ],
  [
    'loses the last bytes of a content',
    'returns a content byte for byte, whatever its size',
    (right) =>
      reading(right, async function* (chunks) {
        for await (const chunk of chunks) yield chunk.length === 65_536 ? chunk : chunk.subarray(0, -1);
      }),
  ],
  [
    'reads a content as text',
    'returns a content of every type',
    (right) =>
      reading(right, async function* (chunks) {
        for await (const chunk of chunks) yield Buffer.from(Buffer.from(chunk).toString('utf8'));
      }),
  ],
  [
    'states a wrong size',
    'returns a content byte for byte, whatever its size',
    (right) => ({
      async readDocument(...input) {
        const content = await right.readDocument(...input);
        return content && { ...content, size: 1 };
      },
    }),
  ],
  [
    'stores what it could read of a content',
    'a content that cannot be read leaves no document',
    (right) => ({
      createDocument: (write) =>
        right.createDocument({
          ...write,
          async *content() {
            try {
              yield* write.content();
            } catch {
              // Stores the rest as if it were whole.
            }
          },
        }),
    }),
  ],
  [
    'lists the oldest document first',
    'lists documents once, newest first, for any page size',
    (right) => ({ listDocuments: async (query) => (await right.listDocuments(query)).toReversed() }),
  ],
  [
    'repeats the last document of a page',
    'lists documents once, newest first, for any page size',
    (right) => ({
      listDocuments: ({ after, ...query }) =>
        right.listDocuments({ ...query, after: after && { ...after, id: `${after.id}~` } }),
    }),
  ],
  [
    'finds a content through another patient',
    'a document of another patient is not found',
    (right) => ({ readDocument: (unit, _, id) => right.readDocument(unit, 'p-1', id) }),
  ],
  [
    'finds a content through another care unit',
    'a document of another care unit is not found',
    (right) => ({ readDocument: (_, patientId, id) => right.readDocument(correct.careUnit, patientId, id) }),
  ],
  [
    'lists documents of another care unit',
    'a document of another care unit is not found',
    (right) => ({ listDocuments: (query) => right.listDocuments({ ...query, careUnit: correct.careUnit }) }),
  ],
  [
    'stores a document for an unknown patient',
    'rejects a document for an unknown patient',
    (right) => ({ createDocument: (write) => right.createDocument({ ...write, patientId: 'p-1' }) }),
  ],
  [
    'finds nothing by operation id',
    'an operation id finds its document',
    () => ({ findDocumentWrite: async () => null }),
  ],
  [
    'stores a document for each write',
    'concurrent and repeated writes with one operation id create one document',
    (right) => ({ createDocument: (write) => right.createDocument({ ...write, operationId: randomUUID() }) }),
  ],
  [
    'withdraws nothing',
    'a withdrawn document is neither listed nor found',
    () => ({ withdrawDocument: async () => 'withdrawn' }),
  ],
  [
    'claims to have withdrawn a changed document',
    'a document changed in the EHR is kept',
    (right) => ({
      async withdrawDocument(...input) {
        await right.withdrawDocument(...input);
        return 'withdrawn';
      },
    }),
  ],
  [
    'shows a document that was entered in error',
    'a document entered in error is neither listed nor found',
    (right) => {
      let last: Document | null = null;
      return {
        createDocument: async (write) => {
          last = await right.createDocument(write);
          return last;
        },
        findDocument: async () => last,
      };
    },
  ],
];

describe('the kit catches a connector that', () => {
  test.each(variants)('%s', async (_, check, defects) => {
    const result = await outcomeOf(withDefects(correct, defects), 'documents', check);
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.not.stringMatching(/^The connector threw/) });
  });
});
