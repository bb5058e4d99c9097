import { Readable } from 'node:stream';
import { type Document, type DocumentContent, documentContentTypes } from '@crossward/connector-kit';
import { create as contentDisposition } from 'content-disposition';
import type { WriteResponse } from '../writes/write-kind.ts';
import { fileName } from './file-name.ts';

/** Anything but the types that can be stored is sent as this: no browser shows it. */
export const unknownContentType = 'application/octet-stream';

/** A download of the content. It is read from the EHR as fast as the caller takes it. */
export function contentResponse(
  { title }: Pick<Document, 'title'>,
  { contentType, size, chunks }: DocumentContent,
): WriteResponse {
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const known = documentContentTypes.find((type) => type === mediaType);
  return {
    body: Readable.from(chunks, { objectMode: false }),
    headers: {
      'content-type': known ?? unknownContentType,
      'content-disposition': contentDisposition(fileName(title, known)),
      ...(size === null ? {} : { 'content-length': String(size) }),
    },
  };
}
