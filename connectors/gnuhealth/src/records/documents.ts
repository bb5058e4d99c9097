import {
  ConnectorError,
  type Document,
  type DocumentContent,
  type DocumentOperations,
  type DocumentWrite,
} from '@crossward/connector-kit';
import { newestPage } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import type { At, Ehr } from '../ehr.ts';
import { requirePatient } from '../patients.ts';
import { createdId } from '../rpc/answer.ts';
import { equal } from '../rpc/client.ts';
import { idSchema, nullable, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc, recordId } from '../rpc/values.ts';
import { createBody, decoded } from './base64.ts';

const model = 'ir.attachment';
const owner = 'gnuhealth.patient';
const sizeOnly = { 'ir.attachment.data': 'size' };

/** A row of `ir.attachment`. Tryton stores no media type, institution or author: the gateway writes them as description. */
const attachmentSchema = Type.Object({
  id: idSchema,
  name: Type.String(),
  description: textSchema,
  resource: Type.String(),
  /** With the context `ir.attachment.data: size`. */
  data: nullable(Type.Integer({ minimum: 0 })),
  create_date: dateTimeSchema,
});
type Attachment = Readonly<Static<typeof attachmentSchema>>;

/** The name of a document without a title: Tryton demands one. */
const untitled = 'Untitled document';

const typesByEnding: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  txt: 'text/plain',
};

/** Such as `application/pdf; institution=1; healthprof=3`. */
function describe(contentType: string, institution: number, author: number | null): string {
  return `${contentType}; institution=${institution}${author === null ? '' : `; healthprof=${author}`}`;
}

/** The institution that the description names. Staff's own attachments name none. */
function institutionOf({ description }: Attachment): number | undefined {
  return numberOf(description, 'institution');
}

function toDocument(found: Attachment): Document {
  const { id, name, resource, data, create_date, description } = found;
  const author = numberOf(description, 'healthprof');
  return {
    id: String(id),
    patientId: resource.slice(resource.indexOf(',') + 1),
    createdAt: fromRpc(create_date),
    authorId: author === undefined ? null : String(author),
    title: name === untitled ? null : name,
    contentType: contentTypeOf(found),
    size: data,
  };
}

function contentTypeOf({ name, description }: Attachment): string {
  const [, written] = /^([a-z]+\/[a-z0-9.+-]+); institution=/.exec(description ?? '') ?? [];
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return written ?? typesByEnding[ending] ?? 'application/octet-stream';
}

function numberOf(description: string | null, name: string): number | undefined {
  const [, digits] = new RegExp(`^[a-z]+/[a-z0-9.+-]+;.* ${name}=(\\d+)`).exec(description ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Attachments of the patient. They cannot be withdrawn, because the server keeps no operation ids for them. */
export function documents(ehr: Ehr): Partial<DocumentOperations> {
  return {
    listDocuments: async (query) =>
      newestPage((await search(ehr.at(query.careUnit), query.patientId)).map(toDocument), query),
    findDocument: async (careUnit, patientId, documentId) => {
      const found = await find(ehr.at(careUnit), patientId, recordId(documentId));
      return found ? toDocument(found) : null;
    },
    readDocument: (careUnit, patientId, documentId) => read(ehr.at(careUnit), patientId, recordId(documentId)),
    createDocument: (write) => create(ehr.at(write.careUnit), write),
  };
}

async function find(at: At, patientId: string, id: number | undefined): Promise<Attachment | undefined> {
  return id === undefined ? undefined : (await search(at, patientId, id))[0];
}

/** The patient's attachments, or the one with this id. Those that name no institution are shown by every care unit. */
async function search({ client, unit }: At, patientId: string, id?: number): Promise<readonly Attachment[]> {
  const patient = recordId(patientId);
  if (patient === undefined) return [];
  const domain = equal({ resource: `${owner},${patient}`, type: 'data', ...(id === undefined ? {} : { id }) });
  const ask = id === undefined ? client.searchRead : client.searchAll;
  const found = await ask({ model, row: attachmentSchema, domain, context: sizeOnly });
  return found.filter((it) => (institutionOf(it) ?? unit.institution) === unit.institution);
}

async function read(at: At, patientId: string, id: number | undefined): Promise<DocumentContent | null> {
  const found = await find(at, patientId, id);
  if (!found) return null;
  const { contentType, size } = toDocument(found);
  const response = await at.client.stream(`model.${model}.read`, [[found.id], ['data']]);
  if (response.status !== 200) {
    await response.chunks[Symbol.asyncIterator]().return?.();
    throw new ConnectorError('rejected', `The EHR responded ${response.status} to a request for a document`);
  }
  return { contentType, size, chunks: decoded(response.chunks) };
}

async function create(at: At, write: DocumentWrite): Promise<Document> {
  const { patientId, authorId, title, contentType, size, content } = write;
  const { patient } = await requirePatient(at.client, patientId);
  const author = authorId === null ? null : (recordId(authorId) ?? null);
  const values = {
    name: title ?? untitled,
    type: 'data',
    resource: `${owner},${patient}`,
    description: describe(contentType, at.unit.institution, author),
  };
  const answer = await at.client.send(createBody(`model.${model}.create`, values, size, content), false);
  const made = await find(at, patientId, createdId(answer, 'a document'));
  if (!made) throw new ConnectorError('outcome_unknown', 'A document was written and cannot be read');
  return toDocument(made);
}
