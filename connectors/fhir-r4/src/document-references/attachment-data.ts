import type { FhirClient } from '../client.ts';
import type { Attachment, FhirBinary } from '../fhir.ts';
import { isRejection } from '../outcome.ts';

/**
 * The bytes of an attachment: inline, or of a Binary of the same server. Another server's URL is never followed.
 *
 * @param baseUrl of the FHIR interface
 * @returns `null` if it cannot be read: it is elsewhere, is gone, or the server does not send it
 * @throws ConnectorError when the server is unavailable or does not respond
 */
export async function attachmentData(
  client: Pick<FhirClient, 'read'>,
  baseUrl: string,
  { data, url }: Attachment,
): Promise<Uint8Array | null> {
  if (data !== undefined) return Buffer.from(data, 'base64');
  const reference = localBinary(url, baseUrl);
  if (reference === undefined) return null;
  try {
    const binary = await client.read<FhirBinary>(reference);
    return binary?.data === undefined ? null : Buffer.from(binary.data, 'base64');
  } catch (error) {
    if (isRejection(error)) return null;
    throw error;
  }
}

/** `Binary/1` of a relative URL, or of an absolute one below the base URL. `undefined`: anything else. */
export function localBinary(url: string | undefined, baseUrl: string): string | undefined {
  if (url === undefined) return undefined;
  const base = `${baseUrl.replace(/\/+$/, '')}/`;
  const path = url.startsWith(base) ? url.slice(base.length) : url;
  return /^(Binary\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]{1,128})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(path)?.[1];
}
