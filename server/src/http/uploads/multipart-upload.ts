import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import type { Upload } from '../../uploads/upload.ts';
import { bodyUnreadable } from '../error-handler.ts';
import { escaped, isEchoable } from '../json-pointer.ts';
import type { ReceivedUpload, Stage } from './received-upload.ts';

/** Limits far above what any operation needs. */
const partLimits = { files: 1, fields: 20, parts: 21, fieldSize: 16 * 1024, fieldNameSize: 100, headerPairs: 20 };

export const multipartOptions = {
  // The limit is that of the staging area.
  limits: { ...partLimits, fileSize: Number.POSITIVE_INFINITY },
  // With or without a file name.
  isPartAFile: (name: string | undefined) => name === 'content',
};

/**
 * Reads a `multipart/form-data` body (RFC 7578): the file part `content`, staged while it arrives, and text fields. The
 * media type of the part counts as the field `content_type` if that is absent.
 *
 * @throws Problem `request_invalid`, `content_too_large`
 */
export async function receiveMultipart(request: FastifyRequest, stage: Stage): Promise<ReceivedUpload> {
  const fields = new Map<string, string>();
  let received: { readonly upload: Upload; readonly label: string } | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        if (received) throw repeated('content');
        received = { upload: await stage(part.file), label: labelOf(part) };
      } else {
        fields.set(part.fieldname, readField(part, fields));
      }
    }
  } catch (error) {
    throw asProblem(error, request);
  }
  if (received && !fields.has('content_type')) fields.set('content_type', received.label);
  return { fields: Object.fromEntries(fields), upload: received?.upload };
}

function labelOf({ mimetype }: MultipartFile): string {
  return (mimetype.split(';')[0] ?? '').trim().toLowerCase();
}

function readField({ fieldname, value, valueTruncated }: MultipartValue, known: ReadonlyMap<string, string>): string {
  if (known.has(fieldname)) throw repeated(fieldname);
  const isText = typeof value === 'string' && !value.includes('\ufffd');
  if (!isText || valueTruncated) {
    const words = valueTruncated ? 'is too long' : 'is not text in UTF-8';
    throw bodyUnreadable(`${named(fieldname)} ${words}.`, pointerTo(fieldname));
  }
  return value;
}

function repeated(name: string): Problem {
  return bodyUnreadable(`${named(name)} is sent more than once.`, pointerTo(name));
}

function named(name: string): string {
  return isEchoable(name) ? `/${escaped(name)}` : 'A field';
}

function pointerTo(name: string): string {
  return isEchoable(name) ? `/${escaped(name)}` : '';
}

/** The errors of the parser become problems; the failures of the connection and the database stay what they are. */
function asProblem(error: unknown, { raw }: FastifyRequest): unknown {
  if (raw.errored) return raw.errored;
  if (error instanceof Problem) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOfParser = code === '' || /^FST_/.test(code);
  if (!isOfParser) return error;
  return bodyUnreadable('The body is not valid multipart/form-data with one file part `content` and text fields.');
}
