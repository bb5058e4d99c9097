import { type Document, documentContentTypes, type Patient } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { contentOnly, oneRecord, recordsIn } from '../api/audit-request.ts';
import { type Access, type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { patientIdentifier } from '../api/identifiers.ts';
import { page } from '../api/paging.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { patientNotation, reference, text } from '../api/schemas.ts';
import { requirePatient } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inPath } from '../problems/places.ts';
import { type Problem, problemAt } from '../problems/problem.ts';
import {
  documentCreationSchema,
  documentFormSchema,
  documentSchema,
  documentsQuery,
  documentsSchema,
} from './contract.ts';

import { planDocument } from './plan-document.ts';
import { contentResponse, unknownContentType } from './read-content.ts';
import { documentBody } from './representation.ts';

const patientParams = { patient_id: patientNotation() };
const documentParams = { ...patientParams, document_id: text({ description: 'Id of the document.' }) };
const place = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', patient_id: 'emr_id:p-3' };
const example = {
  id: '0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11',
  patient_id: 'emr_id:p-3',
  created_at: '2027-03-12T14:00:00+01:00',
  author_id: 'emr_id:r-1',
  title: 'Referral',
  content_type: 'text/plain',
  size: 12,
};
const oneDocumentReasons = [
  'patient_not_found',
  'patient_ambiguous',
  'document_not_found',
  ...identifierReasons,
  ...ehrReadReasons,
] as const;

const listDocuments = endpoint({
  operationId: 'list_documents',
  tag: 'Documents',
  summary: 'List documents',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/documents',
  needs: ['patients', 'listDocuments'],
  audit: recordsIn('documents'),
  scopes: ['documents:read'],
  params: patientParams,
  query: documentsQuery,
  response: { status: 200, description: 'Documents stored at the care unit, newest first.', schema: documentsSchema },
  reasons: ['patient_not_found', 'patient_ambiguous', 'cursor_invalid', ...identifierReasons, ...ehrReadReasons],
  examples: { params: place, query: { limit: 20 }, response: { documents: [example], next_cursor: null } },
  async handle({ client, ehr, careUnit, params, query, readHeader, cursors }) {
    const patientId = await findPatientId(ehr, params.patient_id, readHeader);
    const { entries, next_cursor } = await page(
      cursors,
      query,
      { clientId: client.id, operationId: 'list_documents', filters: [ehr.id, careUnit.id, patientId] },
      ({ createdAt, id }: Document) => [createdAt.toISOString(), id],
      (after, limit) =>
        ehr.call('listDocuments', {
          careUnit,
          patientId,
          limit,
          ...(after ? { after: { createdAt: new Date(String(after[0])), id: String(after[1]) } } : {}),
        }),
    );
    return { body: { documents: entries.map((document) => documentBody(document, careUnit)), next_cursor } };
  },
});

const getDocument = endpoint({
  operationId: 'get_document',
  tag: 'Documents',
  summary: 'Get a document',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/documents/:document_id',
  needs: ['patients', 'findDocument'],
  audit: oneRecord,
  scopes: ['documents:read'],
  params: documentParams,
  response: { status: 200, description: 'The document, without its content.', schema: documentSchema },
  reasons: oneDocumentReasons,
  examples: { params: { ...place, document_id: example.id }, response: example },
  async handle({ ehr, careUnit, params, readHeader }) {
    return { body: documentBody(await findDocument({ ehr, careUnit }, params, readHeader), careUnit) };
  },
});

const getDocumentContent = endpoint({
  operationId: 'get_document_content',
  tag: 'Documents',
  summary: 'Download a document',
  description: `Content of a type that \`create_document\` does not support is sent as \`${unknownContentType}\`.`,
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/documents/:document_id/content',
  needs: ['patients', 'findDocument', 'readDocument'],
  audit: contentOnly,
  scopes: ['documents:read'],
  params: documentParams,
  response: {
    status: 200,
    description: 'The content.',
    schema: Type.String({ format: 'binary', contentMediaType: unknownContentType }),
    // Code generators use the first type that they know: as text, the content would be decoded.
    mediaTypes: [unknownContentType, ...documentContentTypes],
  },
  reasons: oneDocumentReasons,
  examples: { params: { ...place, document_id: example.id }, response: 'See referral' },
  async handle({ ehr, careUnit, params, readHeader }) {
    const document = await findDocument({ ehr, careUnit }, params, readHeader);
    const content = await ehr.call('readDocument', careUnit, document.patientId, document.id);
    if (!content) throw documentNotFound();
    return contentResponse(document, content);
  },
});

const createDocument = endpoint({
  operationId: 'create_document',
  tag: 'Documents',
  summary: 'Create a document',
  description:
    'Send the content as the file part `content` of `multipart/form-data`: up to 10 MiB unless the operator sets another limit. Or in base64 in JSON, whose body has at most 1 MiB. The content must be a PDF, a PNG, a JPEG or plain text in UTF-8, which its first bytes show.',
  level: 'care_unit',
  method: 'POST',
  path: '/patients/:patient_id/documents',
  needs: ['patients', 'findResource', 'createDocument'],
  audit: oneRecord,
  scopes: ['documents:write'],
  params: patientParams,
  body: reference<Static<typeof documentCreationSchema>>('DocumentCreation'),
  form: reference('DocumentForm'),
  response: { status: 201, description: 'The document.', schema: documentSchema },
  reasons: [
    'patient_not_found',
    'patient_ambiguous',
    'content_type_mismatch',
    'author_not_practitioner',
    ...identifierReasons,
    ...ehrReadReasons,
    'outcome_unknown',
    'partially_applied',
  ],
  reasonsOfNames: ['resource_not_found'],
  examples: {
    params: place,
    body: {
      title: 'Referral',
      content_type: 'text/plain',
      content: 'U2VlIHJlZmVycmFs',
      author_id: 'emr_id:r-1',
    },
    response: example,
  },
  findReceiver: ({ ehr, params, readHeader }) => findPatient(ehr, params.patient_id, readHeader),
  plan: planDocument,
});

export const documentEndpoints: EndpointGroup = {
  schemas: [documentSchema, documentCreationSchema, documentFormSchema],
  endpoints: [listDocuments, getDocument, getDocumentContent, createDocument],
};

function findPatient(ehr: Access['ehr'], patientId: string, readHeader: ReadHeader): Promise<Patient> {
  const where = inPath('patient_id');
  return requirePatient(ehr, patientIdentifier(patientId, where, ehr, readHeader), where);
}

async function findPatientId(ehr: Access['ehr'], patientId: string, readHeader: ReadHeader): Promise<string> {
  return (await findPatient(ehr, patientId, readHeader)).id;
}

async function findDocument(
  { ehr, careUnit }: Pick<Access, 'ehr' | 'careUnit'>,
  { patient_id, document_id }: { readonly patient_id: string; readonly document_id: string },
  readHeader: ReadHeader,
): Promise<Document> {
  const patientId = await findPatientId(ehr, patient_id, readHeader);
  const document = await ehr.call('findDocument', careUnit, patientId, document_id);
  if (!document) throw documentNotFound();
  return document;
}

function documentNotFound(): Problem {
  const detail = 'The patient has no document with this id at this care unit.';
  return problemAt(inPath('document_id'), 'document_not_found', detail);
}
