import type { Document } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { idSchema, nullable, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc } from '../rpc/values.ts';

/** A row of `ir.attachment`. Tryton stores no media type, institution or author: the gateway writes them as description. */
export const attachmentSchema = Type.Object({
  id: idSchema,
  name: Type.String(),
  description: textSchema,
  resource: Type.String(),
  /** With the context `ir.attachment.data: size`. */
  data: nullable(Type.Integer({ minimum: 0 })),
  create_date: dateTimeSchema,
});
export type Attachment = Readonly<Static<typeof attachmentSchema>>;

/** The name of a document without a title: Tryton demands one. */
const untitled = 'Untitled document';

const typesByEnding: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  txt: 'text/plain',
};

/** Such as `application/pdf; institution=1; healthprof=3`. */
export function describe(contentType: string, institution: number, author: number | null): string {
  return `${contentType}; institution=${institution}${author === null ? '' : `; healthprof=${author}`}`;
}

export function nameFor(title: string | null): string {
  return title ?? untitled;
}

/** The institution that the description names. Staff's own attachments name none. */
export function institutionOf({ description }: Attachment): number | undefined {
  return numberOf(description, 'institution');
}

export function toDocument(found: Attachment): Document {
  const { id, name, resource, data, create_date, description } = found;
  const author = numberOf(description, 'healthprof');
  return {
    id: String(id),
    patientId: resource.slice(resource.indexOf(',') + 1),
    createdAt: fromRpc(create_date),
    authorId: author === undefined ? null : String(author),
    title: name === untitled ? null : name,
    contentType: contentTypeOf(found),
    size: data,
  };
}

function contentTypeOf({ name, description }: Attachment): string {
  const [, written] = /^([a-z]+\/[a-z0-9.+-]+); institution=/.exec(description ?? '') ?? [];
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return written ?? typesByEnding[ending] ?? 'application/octet-stream';
}

function numberOf(description: string | null, name: string): number | undefined {
  const [, digits] = new RegExp(`^[a-z]+/[a-z0-9.+-]+;.* ${name}=(\\d+)`).exec(description ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}
