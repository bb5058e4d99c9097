import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, DocumentCreation, PatientDocument, QueryOf, WriteOptions } from './types.ts';

/** A document to store. */
export interface NewDocument extends Omit<DocumentCreation, 'content' | 'content_type'> {
  /**
   * A `Blob` can be read again for a retry and need not be in memory: `openAsBlob(path)` of `node:fs`, or a `File` of a
   * page. A stream can be read only once: pass `await new Response(stream).blob()`.
   */
  readonly content: Blob;
  /** Default: the type of the blob. */
  readonly content_type?: DocumentCreation['content_type'];
}

/** The documents of a patient. `patientId` is sent in a header. */
export interface Documents {
  /** Newest first. */
  list(patientId: string, query?: QueryOf<'list_documents'>, options?: CallOptions): List<PatientDocument>;
  get(patientId: string, documentId: string, options?: CallOptions): Promise<PatientDocument>;
  /** The response with the content: `await response.blob()`, or `response.body` as a stream. Only its start is timed. */
  content(patientId: string, documentId: string, options?: CallOptions): Promise<Response>;
  /** Sends a form, which takes content of any size that the gateway allows. */
  create(patientId: string, document: NewDocument, options?: WriteOptions): Promise<PatientDocument>;
}

export function documentMethods({ raw, caller }: Connection, place: CareUnitPlace): Documents {
  const all = `${inCareUnit}/patients/{patient_id}/documents` as const;
  const one = `${all}/{document_id}` as const;
  return {
    list: (patient_id, query = {}, options) =>
      listOf('documents', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(all, { ...init, params: { path: { ...place, patient_id }, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (patient_id, document_id, options) =>
      caller.read(options, (init) =>
        raw.GET(one, { ...init, params: { path: { ...place, patient_id, document_id } } }),
      ),
    content: (patient_id, document_id, options) =>
      caller.open(options, (init) =>
        raw.GET(`${one}/content`, {
          ...init,
          params: { path: { ...place, patient_id, document_id } },
          parseAs: 'stream',
        }),
      ),
    create: (patient_id, document, options) =>
      caller.write(options, (init) =>
        raw.POST(all, {
          ...init,
          params: { path: { ...place, patient_id } },
          // The generated type is that of JSON. `fetch` sends a form as `multipart/form-data`.
          body: form(document) as unknown as DocumentCreation,
        }),
      ),
  };
}

/** The content comes last, so that the gateway knows everything about it when it arrives. */
function form({ content, ...fields }: NewDocument): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) data.append(name, value);
  data.append('content', content);
  return data;
}
