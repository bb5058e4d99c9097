import type { Upload } from '../../uploads/upload.ts';

/** Stores content while it arrives. */
export type Stage = (content: AsyncIterable<Uint8Array>) => Promise<Upload>;

/** A body without its content. */
export interface ReceivedUpload {
  readonly fields: unknown;
  /** `undefined`: the body has no content. */
  readonly upload: Upload | undefined;
}
