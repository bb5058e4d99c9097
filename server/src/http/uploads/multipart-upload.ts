import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { escapedToken, isEchoable } from '../../api/json-pointer.ts';
import type { Problem } from '../../problems/problem.ts';
import type { Upload } from '../../uploads/upload.ts';
import { bodyUnreadable } from '../protocol/error-handler.ts';

/** Limits far above what any endpoint needs. The limit of the content is that of the staging area. */
const limits = { files: 1, fields: 20, parts: 21, fieldSize: 16 * 1024, fieldNameSize: 100, headerPairs: 20 };

/**
 * Reads a `multipart/form-data` body (RFC 7578): the file part `content`, staged while it arrives, and text fields. The
 * media type of the part counts as the field `content_type` if that is absent.
 *
 * @throws Problem `request_invalid`, `content_too_large`
 */
export async function receiveMultipart({ raw }: Pick<FastifyRequest, 'raw'>, stage: Stage): Promise<ReceivedUpload> {
  const fields = new Map<string, string>();
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>();
  const parser = createParser(raw.headers as BusboyHeaders);
  let label = '';
  let file: Readable | undefined;
  let fileError: unknown;
  let staging: Promise<Upload> | undefined;

  parser.on('field', (name, value, isNameCut, isCut, encoding) => {
    try {
      assertUnencoded(name, encoding);
      fields.set(name, readField({ name, value, isCut: isNameCut || isCut }, fields));
    } catch (error) {
      reject(error);
    }
  });
  parser.on('file', (name, stream, _fileName, encoding, mediaType) => {
    file = stream;
    label = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
    stream.on('error', (error) => {
      fileError ??= error;
      reject(malformed());
    });
    try {
      assertUnencoded(name, encoding);
    } catch (error) {
      return reject(error);
    }
    staging = stage(stream);
    staging.catch(reject);
  });
  parser.on('filesLimit', () => reject(repeated('content')));
  for (const limit of ['partsLimit', 'fieldsLimit', 'error'] as const) parser.on(limit, () => reject(malformed()));
  parser.on('finish', resolve);
  raw.once('error', reject);
  raw.pipe(parser);

  try {
    await parsed;
    const upload = await staging;
    if (upload && !fields.has('content_type')) fields.set('content_type', label);
    return { fields: Object.fromEntries(fields), upload };
  } catch (error) {
    raw.unpipe(parser);
    file?.destroy(new Error('The body broke off'));
    // Without this, the end of the parser would hide why the content could not be staged.
    const cause = await staging?.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    throw cause === undefined || cause === fileError ? error : cause;
  } finally {
    raw.removeListener('error', reject);
  }
}

/** @throws Problem `request_invalid` for a content type without boundary */
function createParser(headers: BusboyHeaders): InstanceType<typeof Busboy> {
  try {
    // The part may have a file name or not.
    return new Busboy({ headers, limits, isPartAFile: (name) => name === 'content' });
  } catch {
    throw malformed();
  }
}

interface Field {
  readonly name: string;
  readonly value: string;
  readonly isCut: boolean;
}

function readField({ name, value, isCut }: Field, known: ReadonlyMap<string, string>): string {
  if (known.has(name)) throw repeated(name);
  if (isCut) throw bodyUnreadable(`${named(name)} is too long.`, pointerTo(name));
  if (value.includes('\ufffd')) throw bodyUnreadable(`${named(name)} is not text in UTF-8.`, pointerTo(name));
  return value;
}

function malformed(): Problem {
  return bodyUnreadable('The body is not valid multipart/form-data with one file part `content` and text fields.');
}

/** Deprecated (RFC 7578 section 4.7), and the parser does not decode it: base64 would be stored as the content. */
function assertUnencoded(name: string, encoding: string): void {
  if (['7bit', '8bit', 'binary'].includes(encoding.trim().toLowerCase())) return;
  throw bodyUnreadable(`${named(name)} must not have a content-transfer-encoding.`, pointerTo(name));
}

function repeated(name: string): Problem {
  return bodyUnreadable(`${named(name)} is sent more than once.`, pointerTo(name));
}

function named(name: string): string {
  return isEchoable(name) ? `/${escapedToken(name)}` : 'A field';
}

function pointerTo(name: string): string {
  return isEchoable(name) ? `/${escapedToken(name)}` : '';
}

/** Stores content while it arrives. */
export type Stage = (content: AsyncIterable<Uint8Array>) => Promise<Upload>;

/** A body without its content. */
export interface ReceivedUpload {
  readonly fields: unknown;
  /** `undefined`: the body has no content. */
  readonly upload: Upload | undefined;
}
