import type { ContentFacts } from './inspect-content.ts';

/** Content of a request that is stored in the gateway's database. */
export interface Upload extends ContentFacts {
  /** UUID. */
  readonly id: string;
}

/** The encryption context of a chunk: no chunk can take the place of another. */
export function chunkContext(uploadId: string, position: number): string {
  return `upload ${uploadId} ${position}`;
}
