import { randomBytes } from 'node:crypto';
import type { Gateway, GatewayResponse, RequestOptions } from '../gateway/gateway.ts';
import { oslo } from './bookings.ts';

export interface DocumentBody {
  readonly id: string;
  readonly patient_id: string;
  readonly created_at: string;
  readonly author_id: string | null;
  readonly title: string | null;
  readonly content_type: string;
  readonly size: number | null;
  /** Set in a problem. */
  readonly reason?: string;
}

export const documentsOf = (patient: string, careUnit = oslo) => `${careUnit}/patients/${patient}/documents`;

/** A PDF by its first bytes. */
export function pdfOf(size: number): Buffer {
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(Math.max(size - 9, 0))]).subarray(0, size);
}

export interface FormPart {
  readonly name: string;
  readonly value: string | Buffer;
  readonly fileName?: string;
  readonly type?: string;
}

/** A `multipart/form-data` body. The order of the parts is kept. */
export function form(parts: readonly FormPart[]): Pick<RequestOptions, 'body' | 'headers'> {
  const boundary = 'crossward-test-boundary';
  const pieces = parts.flatMap(({ name, value, fileName, type }) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"`),
    Buffer.from(fileName === undefined ? '' : `; filename="${fileName}"`),
    Buffer.from(type === undefined ? '\r\n\r\n' : `\r\ncontent-type: ${type}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

type DocumentOptions = RequestOptions & { readonly path?: string };

/** Stores a PDF by a form. */
export function createLargeDocument(
  gateway: Gateway,
  bytes: Buffer,
  {
    path = documentsOf('p-3'),
    title = 'Referral',
    headers,
    ...options
  }: DocumentOptions & { readonly title?: string } = {},
): Promise<GatewayResponse<DocumentBody>> {
  const sent = form([
    { name: 'title', value: title },
    { name: 'content', value: bytes, fileName: 'x.pdf', type: 'application/pdf' },
  ]);
  return gateway.request<DocumentBody>('POST', path, { ...options, ...sent, headers: { ...sent.headers, ...headers } });
}

/** Stores a document by JSON. */
export function createDocument(
  gateway: Gateway,
  fields: Readonly<Record<string, unknown>> = {},
  { path = documentsOf('p-3'), ...options }: DocumentOptions = {},
): Promise<GatewayResponse<DocumentBody>> {
  const body = { content_type: 'text/plain', content: Buffer.from('See referral').toString('base64'), ...fields };
  return gateway.request<DocumentBody>('POST', path, { ...options, body });
}
