import { convert } from 'html-to-text';
import type { Attachment, FhirBinary } from '../fhir.ts';
import type { FhirClient } from '../server/client.ts';
import { isRejection } from '../server/outcome.ts';
import type { FhirSettings } from '../settings.ts';
import { boundedHtml } from './bounded-html.ts';
import { decodeText, mediaTypeOf } from './charset.ts';
import { formatTable } from './html-table.ts';
import { rtfToText } from './rtf-to-text.ts';

export type BinaryUrls = Pick<FhirSettings, 'base_url' | 'binary_storage_url'>;

/** Bytes of a content that is read into memory. */
const longestData = 10 * 1024 * 1024;

/**
 * The bytes of an attachment: inline, or of a Binary of the same server. Another server's URL is never followed.
 *
 * @returns `null` if it cannot be read: it is elsewhere, is gone, is too large, or the server does not send it
 * @throws ConnectorError when the server is unavailable or does not respond
 */
export async function attachmentData(
  client: Pick<FhirClient, 'read' | 'download'>,
  settings: BinaryUrls,
  { data, url, contentType }: Attachment,
): Promise<Uint8Array | null> {
  if (data !== undefined) return Buffer.from(data, 'base64');
  const reference = localBinary(url, settings);
  if (reference === undefined) return null;
  try {
    const binary = await client.read<FhirBinary>(reference);
    if (!binary) return null;
    if (binary.data !== undefined) return Buffer.from(binary.data, 'base64');
    // Medplum sends the content alone, or the resource without it: https://hl7.org/fhir/R4/binary.html#rest
    const stream = await client.download(reference, mediaTypeOf(contentType) || 'application/octet-stream');
    return stream && (await bytesOf(stream.chunks, longestData));
  } catch (error) {
    if (isRejection(error)) return null;
    throw error;
  }
}

/**
 * `Binary/1` of a relative URL, of an absolute one below the base URL, or of a signed one below `binary_storage_url`.
 * `undefined`: anything else.
 */
export function localBinary(url: string | undefined, { base_url, binary_storage_url }: BinaryUrls): string | undefined {
  if (url === undefined) return undefined;
  const stored = binary_storage_url === undefined ? undefined : below(binary_storage_url, url);
  if (stored !== undefined) return binaryOf(/^([^/?#]+)/.exec(stored)?.[1]);
  const path = below(base_url, url) ?? url;
  return binaryOf(/^Binary\/([^/]+)(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(path)?.[1]);
}

function binaryOf(id: string | undefined): string | undefined {
  return id !== undefined && /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/.test(id) ? `Binary/${id}` : undefined;
}

/** What follows a base URL in a URL. */
function below(baseUrl: string, url: string): string | undefined {
  const base = `${baseUrl.replace(/\/+$/, '')}/`;
  return url.startsWith(base) ? url.slice(base.length) : undefined;
}

/** Reads a stream into memory. `null`: it is longer than `longest` bytes, and was left unread. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>, longest: number): Promise<Buffer | null> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > longest) return null;
    read.push(chunk);
  }
  return Buffer.concat(read);
}

/** How the text of a note is read, by media type, from the best to the worst source. */
const readers: Readonly<Record<string, (bytes: Uint8Array, contentType: string | undefined) => string>> = {
  'text/plain': decodeText,
  'text/markdown': decodeText,
  'text/html': htmlToText,
  'application/xhtml+xml': htmlToText,
  'text/rtf': rtfToText,
  'application/rtf': rtfToText,
};
const mediaTypes = Object.keys(readers);

/** How good a source the content type is: the lower, the better. `undefined`: it is no text. */
export function rankOfText(contentType: string | undefined): number | undefined {
  const rank = mediaTypes.indexOf(mediaTypeOf(contentType));
  return rank === -1 ? undefined : rank;
}

/** The attachment's plain text. The content type must have a rank. */
export function attachmentText(bytes: Uint8Array, contentType: string | undefined): string {
  return readers[mediaTypeOf(contentType)]?.(bytes, contentType) ?? '';
}

function htmlToText(bytes: Uint8Array, contentType: string | undefined): string {
  const heading = { format: 'heading', options: { uppercase: false } };
  return convert(boundedHtml(decodeText(bytes, contentType)), {
    wordwrap: false,
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, ...heading })),
      { selector: 'table', format: 'tabbedTable' },
    ],
    formatters: { tabbedTable: formatTable },
  });
}
