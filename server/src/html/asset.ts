import { hash } from 'node:crypto';

/** A file that pages load. Its name contains a hash of its content, so browsers can keep it. */
export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

const types = { css: 'text/css; charset=utf-8', svg: 'image/svg+xml', png: 'image/png' } as const;

export function createAsset(content: Buffer, extension: keyof typeof types): Asset {
  return {
    name: `${hash('sha256', content, 'hex').slice(0, 16)}.${extension}`,
    type: types[extension],
    content,
  };
}
