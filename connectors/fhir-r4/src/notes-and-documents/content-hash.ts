import { createHash } from 'node:crypto';
import type { FhirDocumentReference } from '../fhir.ts';
import { localReference } from '../fhir.ts';
import { binaryIdIn } from './binary-id.ts';
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
