import { ConnectorError, type DocumentContent, type DocumentWrite, type EhrStream } from '@crossward/connector-kit';
import { isUnknown } from '../booking/write/outcomes.ts';
import type { Attachment, FhirBinary, FhirDocumentReference } from '../fhir.ts';
import type { FhirClient } from '../server/client.ts';
import { parse } from '../server/messages.ts';
import { type BinaryUrls, bytesOf, localBinary } from './attachment.ts';
import { mediaTypeOf } from './charset.ts';
import { binaryIdIn } from './content-hash.ts';
import { onlyAttachment, storedBinary } from './document.ts';

/** Bytes. A Binary in JSON is read into memory: 10 MiB in base64, and room for the rest of it. */
const longestJson = 15 * 1024 * 1024;

/**
 * The content of a document: inline, or of a Binary of the same server. Another server's URL is never followed.
 *
 * @returns `null` if it is elsewhere, or is gone
 */
export async function documentContent(
  client: Pick<FhirClient, 'download'>,
  settings: BinaryUrls,
  document: FhirDocumentReference,
): Promise<DocumentContent | null> {
  const attachment = onlyAttachment(document) ?? {};
  const contentType = attachment.contentType ?? 'application/octet-stream';
  if (attachment.data !== undefined) return inMemory(contentType, attachment.data);
  const reference = binaryOf(document, attachment, settings);
  if (reference === undefined) return null;
  const stream = await client.download(reference, mediaTypeOf(contentType) || 'application/octet-stream');
  if (!stream) return null;
  if (isFhirJson(stream)) return inMemory(contentType, await dataOf(stream));
  return { contentType, size: sizeOf(stream), chunks: stream.chunks };
}

/** The server may have replaced the URL of a Binary that the gateway has stored. */
function binaryOf(document: FhirDocumentReference, { url }: Attachment, settings: BinaryUrls): string | undefined {
  const own = storedBinary(document);
  const isOwn = own !== undefined && binaryIdIn(own) === binaryIdIn(url, own);
  return localBinary(url, settings) ?? (isOwn ? localBinary(own, settings) : undefined);
}

function inMemory(contentType: string, base64: string): DocumentContent {
  const bytes = Buffer.from(base64, 'base64');
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return { contentType, size: bytes.length, chunks: chunks() };
}

function isFhirJson({ headers }: EhrStream): boolean {
  return ['application/fhir+json', 'application/json+fhir'].includes(mediaTypeOf(headers['content-type']));
}

async function dataOf({ chunks }: EhrStream): Promise<string> {
  const bytes = await bytesOf(chunks, longestJson);
  if (!bytes) throw new ConnectorError('rejected', 'The EHR sent too large a Binary in JSON');
  const binary = parse(bytes.toString('utf8')) as Partial<FhirBinary> | undefined;
  if (binary?.resourceType === 'Binary' && typeof binary.data === 'string') return binary.data;
  throw new ConnectorError('rejected', 'The EHR sent another resource than a Binary with data');
}

function sizeOf({ headers }: EhrStream): number | null {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? null : Number(length);
}

/**
 * Stores the content of a new document as a Binary, which no list shows before a document refers to it.
 *
 * @returns `Binary/17`
 * @throws ConnectorError `unavailable` where the outcome is unknown: the patient's record has not changed
 */
export async function storeContent(
  client: Pick<FhirClient, 'upload'>,
  { contentType, size, content }: DocumentWrite,
): Promise<string> {
  try {
    const { ok, reference, rejection, status } = await client.upload(contentType, { size, read: content });
    if (!ok) throw rejection ?? new ConnectorError('rejected', `The EHR responded with ${status}`);
    const stored = localBinary(reference, { base_url: '' });
    if (stored === undefined) throw new ConnectorError('rejected', 'The EHR does not say where it stored the content');
    return stored;
  } catch (cause) {
    if (!isUnknown(cause)) throw cause;
    throw new ConnectorError('unavailable', 'The EHR may not have received the content; no document refers to it', {
      cause,
    });
  }
}
