import { createHash } from 'node:crypto';
import type { DocumentContentType } from '@crossward/connector-kit';

/** What the bytes of an upload say about it, whatever its label. */
export interface ContentFacts {
  /** Bytes. */
  readonly size: number;
  /** SHA-256, in hexadecimal. */
  readonly sha256: string;
  /** `undefined`: none of the known media types. */
  readonly contentType: DocumentContentType | undefined;
}

interface ContentInspector {
  update(chunk: Uint8Array): void;
  /** Call it once, after the last chunk. */
  end(): ContentFacts;
}

/** The first bytes of each binary media type: https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern */
const signatures: readonly (readonly [DocumentContentType, Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
];
const longestSignature = Math.max(...signatures.map(([, bytes]) => bytes.length));

/** Plain text has no control characters but white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const controlCharacter = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** Examines content as it passes, without keeping it. */
export function inspectContent(): ContentInspector {
  const hash = createHash('sha256');
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let size = 0;
  let head = Buffer.alloc(0);
  let isText = true;

  function readText(chunk?: Uint8Array): void {
    if (!isText) return;
    try {
      isText = !controlCharacter.test(utf8.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      isText = false;
    }
  }

  return {
    update(chunk) {
      size += chunk.length;
      hash.update(chunk);
      if (head.length < longestSignature) {
        head = Buffer.concat([head, chunk.subarray(0, longestSignature - head.length)]);
      }
      readText(chunk);
    },
    end() {
      readText();
      const signed = signatures.find(([, bytes]) => head.subarray(0, bytes.length).equals(bytes))?.[0];
      return { size, sha256: hash.digest('hex'), contentType: signed ?? (isText ? 'text/plain' : undefined) };
    },
  };
}
