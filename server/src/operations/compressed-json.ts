import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Characters. Shorter texts are not worth compressing: one appointment has about 500. */
const longestPlain = 2048;
const deflatedMark = 'deflate:';

/** JSON of a stored response, compressed if long. A hundred similar appointments shrink to a tenth. */
export function compressJson(kept: object): string {
  const text = JSON.stringify(kept);
  // No JSON text begins with the mark.
  return text.length <= longestPlain ? text : deflatedMark + deflateRawSync(text).toString('base64');
}

export function decompressJson(text: string): unknown {
  if (!text.startsWith(deflatedMark)) return JSON.parse(text);
  return JSON.parse(inflateRawSync(Buffer.from(text.slice(deflatedMark.length), 'base64')).toString('utf8'));
}
