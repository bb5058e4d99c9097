import type { DocumentContentType } from '@crossward/connector-kit';

/** Stored with every write. Must not change. */
export const documentKindName = 'document';

/** Refers to the content, which is stored until the write ends. */
export interface DocumentPlan {
  readonly requestedAt: Date;
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  readonly contentType: DocumentContentType;
  /** The hash is SHA-256, in hexadecimal. */
  readonly upload: { readonly id: string; readonly size: number; readonly sha256: string };
}
