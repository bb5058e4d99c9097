import { bodyUnreadable } from '../error-handler.ts';

/** Decodes base64 (RFC 4648 section 4, with padding) that arrives in pieces. Throws Problem `request_invalid`. */
export interface Base64Decoder {
  push(text: string): Buffer;
  /** Returns the rest. Call it once, after the last piece. */
  end(): Buffer;
}

/** @param pointer place of the text in the request body, for problems */
export function base64Decoder(pointer: string): Base64Decoder {
  /** The last characters so far, up to four: only at the end can they be padding. */
  let pending = '';
  const invalid = () => bodyUnreadable(`${pointer} is not valid base64 (RFC 4648 section 4).`, pointer);
  return {
    push(text) {
      pending += text;
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(pending)) throw invalid();
      const whole = pending.length - ((pending.length - 1) % 4) - 1;
      if (whole <= 0) return Buffer.alloc(0);
      const ready = pending.slice(0, whole);
      pending = pending.slice(whole);
      if (ready.includes('=')) throw invalid();
      return Buffer.from(ready, 'base64');
    },
    end() {
      if (pending !== '' && !/^[A-Za-z0-9+/]{2}([A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/.test(pending)) throw invalid();
      return Buffer.from(pending, 'base64');
    },
  };
}
