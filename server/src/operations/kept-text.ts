import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Characters. What is shorter is not worth it: one appointment has some 500. */
const longestPlain = 2048;
const deflatedMark = 'deflate:';

/** What is kept of an answer. A hundred appointments of one request are much alike, and shrink to a tenth. */
export function packed(kept: object): string {
  const text = JSON.stringify(kept);
  // A text of JSON is never taken for the mark.
  return text.length <= longestPlain ? text : deflatedMark + deflateRawSync(text).toString('base64');
}

export function unpacked(text: string): unknown {
  if (!text.startsWith(deflatedMark)) return JSON.parse(text);
  return JSON.parse(inflateRawSync(Buffer.from(text.slice(deflatedMark.length), 'base64')).toString('utf8'));
}
