import { createHash } from 'node:crypto';
import { type FhirDocumentReference, localReference } from '../fhir.ts';
import { storedBinary } from './document.ts';

/** The extension that keeps the hash of a document's content at its creation. */
const hashUrl = 'urn:crossward:content-hash';

/** Adds the hash of what somebody may change in the document. */
export function withContentHash(document: FhirDocumentReference): FhirDocumentReference {
  const extension = [...(document.extension ?? []), { url: hashUrl, valueString: hashOf(document) }];
  return { ...document, extension };
}

/**
 * Whether the content is still that of the creation. Where the server drops the extension, whether this is the first
 * version.
 */
export function isUnchanged(document: FhirDocumentReference): boolean {
  const hash = document.extension?.find(({ url }) => url === hashUrl)?.valueString;
  return hash === undefined ? document.meta?.versionId === '1' : hash === hashOf(document);
}

function hashOf(document: FhirDocumentReference): string {
  const { status, docStatus, subject, author, description, content, context } = document;
  const stored = storedBinary(document);
  const facts = [
    [status, docStatus, localReference(subject), description],
    (author ?? []).map((it) => localReference(it)),
    (context?.related ?? []).map((it) => localReference(it)),
    (content ?? []).map(({ attachment }) => [
      attachment?.title,
      attachment?.contentType,
      attachment?.data,
      binaryIdIn(attachment?.url, stored) ?? attachment?.url,
    ]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of the Binary in a URL: `17` for `Binary/17`. Some servers replace the reference by a signed URL of their storage
 * when they send it, such as `https://storage.medplum.com/binary/17/1?Signature=…`, or
 * `https://fhir.clinic.example/storage/…` of a Medplum server that keeps its own files.
 *
 * @param stored the Binary that the gateway has stored for the document: `Binary/17`. An id that is a UUID is recognized
 *   anywhere in the path, since nothing else has it.
 */
export function binaryIdIn(url: string | undefined, stored?: string): string | undefined {
  const [path = ''] = (url ?? '').split(/[?#]/);
  const named = /(?:^|\/)binary\/([A-Za-z0-9.-]{1,64})(?=\/|$)/i.exec(path)?.[1];
  if (named !== undefined || stored === undefined) return named;
  const id = binaryIdIn(stored);
  return id !== undefined && uuid.test(id) && path.split('/').includes(id) ? id : undefined;
}
