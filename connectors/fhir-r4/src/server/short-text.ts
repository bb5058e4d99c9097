import { ConnectorError, type EhrStream } from '@crossward/connector-kit';

/** Bytes. An OperationOutcome is shorter. */
const longest = 64 * 1024;

/**
 * The body of a response to an upload. Some servers ignore `Prefer: return=minimal` and send the whole content back: a longer
 * body counts as empty, and so does one that breaks off, because the status and the headers say that the upload is done.
 */
export async function shortText({ chunks }: EhrStream): Promise<string> {
  const read: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      // Ends the loop, which cancels the rest.
      if (length > longest) return '';
      read.push(chunk);
    }
  } catch (error) {
    if (error instanceof ConnectorError) return '';
    throw error;
  }
  return Buffer.concat(read).toString('utf8');
}
