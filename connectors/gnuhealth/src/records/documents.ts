import {
  type CareUnit,
  ConnectorError,
  type Document,
  type DocumentContent,
  type DocumentOperations,
  type DocumentQuery,
  type DocumentWrite,
} from '@crossward/connector-kit';
import { newestPage } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { requirePatient } from '../patients.ts';
import { createdId } from '../rpc/answer.ts';
import { recordId } from '../rpc/values.ts';
import { type Attachment, attachmentSchema, describe, institutionOf, nameFor, toDocument } from './attachment.ts';
import { createBody, decoded } from './base64.ts';

const model = 'ir.attachment';
const owner = 'gnuhealth.patient';
const sizeOnly = { 'ir.attachment.data': 'size' };

/** Attachments of the patient. They cannot be withdrawn, because the server keeps no operation ids for them. */
export function documents(ehr: Ehr): Partial<DocumentOperations> {
  return {
    listDocuments: (query) => list(ehr, query),
    findDocument: async (careUnit, patientId, documentId) => {
      const found = await find(ehr, careUnit, patientId, recordId(documentId));
      return found ? toDocument(found) : null;
    },
    readDocument: (careUnit, patientId, documentId) => read(ehr, careUnit, patientId, recordId(documentId)),
    createDocument: (write) => create(ehr, write),
  };
}

async function list(ehr: Ehr, query: DocumentQuery): Promise<readonly Document[]> {
  const shown = await search(ehr, query.careUnit, query.patientId, []);
  return newestPage(shown.map(toDocument), query);
}

async function find(
  ehr: Ehr,
  careUnit: CareUnit,
  patientId: string,
  id: number | undefined,
): Promise<Attachment | undefined> {
  if (id === undefined) return undefined;
  const [found] = await search(ehr, careUnit, patientId, [['id', '=', id]], true);
  return found;
}

/** The patient's attachments. Those that name no institution are shown by every care unit. */
async function search(
  { rpc, directory }: Ehr,
  careUnit: CareUnit,
  patientId: string,
  terms: readonly unknown[],
  isOne = false,
): Promise<readonly Attachment[]> {
  const patient = recordId(patientId);
  if (patient === undefined) return [];
  const domain = [['resource', '=', `${owner},${patient}`], ['type', '=', 'data'], ...terms];
  const search = isOne ? rpc.searchAll : rpc.searchRead;
  const found = await search({ model, row: attachmentSchema, domain, context: sizeOnly });
  const institution = directory.institutionOf(careUnit);
  return found.filter((it) => (institutionOf(it) ?? institution) === institution);
}

async function read(
  ehr: Ehr,
  careUnit: CareUnit,
  patientId: string,
  id: number | undefined,
): Promise<DocumentContent | null> {
  const found = await find(ehr, careUnit, patientId, id);
  if (!found) return null;
  const { contentType, size } = toDocument(found);
  const response = await ehr.rpc.stream(`model.${model}.read`, [[found.id], ['data']]);
  if (response.status !== 200) {
    await response.chunks[Symbol.asyncIterator]().return?.();
    throw new ConnectorError('rejected', `The EHR responded ${response.status} to a request for a document`);
  }
  return { contentType, size, chunks: decoded(response.chunks) };
}

async function create(ehr: Ehr, write: DocumentWrite): Promise<Document> {
  const { careUnit, patientId, authorId, title, contentType, size, content } = write;
  const { patient } = await requirePatient(ehr.rpc, patientId);
  const author = authorId === null ? null : (recordId(authorId) ?? null);
  const values = {
    name: nameFor(title),
    type: 'data',
    resource: `${owner},${patient}`,
    description: describe(contentType, ehr.directory.institutionOf(careUnit), author),
  };
  const answer = await ehr.rpc.send(createBody(`model.${model}.create`, values, size, content), false);
  const made = await find(ehr, careUnit, patientId, createdId(answer, 'a document'));
  if (!made) throw new ConnectorError('outcome_unknown', 'A document was written and cannot be read');
  return toDocument(made);
}
