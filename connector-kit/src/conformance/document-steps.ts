import { createHash, randomUUID } from 'node:crypto';
import type { Connector } from '../connector.ts';
import type { Document, DocumentQuery, DocumentWrite } from '../documents.ts';
import { expectSame, expectThat, operation } from './expect.ts';
import { patientId } from './steps.ts';
import type { Subject } from './subject.ts';

/** A PDF of this size, by its first bytes. Different for each seed. */
export function pdf(size: number, seed: string = randomUUID()): Buffer {
  const block = createHash('sha512').update(seed).digest();
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(Math.max(0, size - 9), block)]).subarray(0, size);
}

/** The content in pieces, as the gateway passes it on. */
export async function* inPieces(bytes: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** A new document for the known patient, with its own operation id. */
export async function documentWrite(
  subject: Subject,
  bytes: Buffer = pdf(100),
  fields: Partial<DocumentWrite> = {},
): Promise<DocumentWrite> {
  return {
    operationId: randomUUID(),
    careUnit: subject.careUnit,
    patientId: await patientId(subject),
    authorId: null,
    title: 'Conformance',
    contentType: 'application/pdf',
    size: bytes.length,
    content: () => inPieces(bytes),
    ...fields,
  };
}

export async function writeDocument(
  subject: Subject,
  bytes?: Buffer,
  fields: Partial<DocumentWrite> = {},
  through: Connector = subject.connector,
): Promise<Document> {
  return operation(through, 'createDocument')(await documentWrite(subject, bytes, fields));
}

export function findDocument({ connector, careUnit }: Subject, document: Document): Promise<Document | null> {
  return operation(connector, 'findDocument')(careUnit, document.patientId, document.id);
}

/** The content of a document, read to the end. `null`: not found. */
export async function contentOf({ connector, careUnit }: Subject, document: Document): Promise<Buffer | null> {
  const content = await operation(connector, 'readDocument')(careUnit, document.patientId, document.id);
  if (!content) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.chunks) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  expectThat(
    content.size === null || content.size === bytes.length,
    `The size of a content is ${content.size}, but it has ${bytes.length} bytes`,
  );
  return bytes;
}

/** All documents of the known patient, read in pages of `limit`. */
export async function listDocuments(
  subject: Subject,
  query: Partial<DocumentQuery> = {},
  limit = 50,
): Promise<readonly Document[]> {
  const { connector, careUnit } = subject;
  const list = operation(connector, 'listDocuments');
  const found: Document[] = [];
  const mine = { careUnit, patientId: await patientId(subject) };
  for (let after: Document | undefined; ; after = found.at(-1)) {
    const page = await list({ ...mine, ...query, after, limit });
    expectThat(page.length <= limit, `A page of at most ${limit} has ${page.length} entries`);
    found.push(...page);
    if (page.length < limit) return found;
    expectSame(new Set(found.map(({ id }) => id)).size, found.length, 'Number of distinct documents in the pages');
  }
}

export async function isDocumentListed(
  subject: Subject,
  { id }: Document,
  query: Partial<DocumentQuery> = {},
): Promise<boolean> {
  return (await listDocuments(subject, query)).some((document) => document.id === id);
}

/** The fields of a document, without the patient's id. */
export function documentFacts({ patientId: _, ...document }: Document): Omit<Document, 'patientId'> {
  return document;
}
