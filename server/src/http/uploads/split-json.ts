import { bodyUnreadable } from '../error-handler.ts';

const quote = 0x22;
const backslash = 0x5c;
/** The characters that matter outside of strings. */
const [openBrace, closeBrace, openBracket, closeBracket, colon, comma] = Buffer.from('{}[]:,');

/**
 * Takes one long string out of a JSON object that arrives in pieces: the first member of the object itself with this
 * name. What remains is the same object with an empty string in its place, to be parsed and checked as usual.
 */
export interface JsonSplitter {
  /**
   * Reads the next bytes. Calls `onText` with parts of the string in order, without JSON escapes, and returns the bytes
   * of everything else.
   */
  push(bytes: Buffer, onText: (text: string) => void): Buffer;
  /** Whether the string was found. */
  readonly isFound: boolean;
}

export function splitJson(name: string): JsonSplitter {
  /** The innermost object or array is the last. */
  const nesting: ('object' | 'array')[] = [];
  let state: 'outside' | 'string' | 'content' = 'outside';
  let isEscaped = false;
  /** Whether the next string is the name of a member. */
  let isNameNext = false;
  /** The source text of the latest name in the outer object. */
  let latestName: string | undefined;
  let isValueNext = false;
  let isFound = false;
  let sequence = '';

  function isNamed(): boolean {
    try {
      return JSON.parse(`"${latestName}"`) === name;
    } catch {
      return false;
    }
  }

  /** Reads outside of strings. Returns the position after the next quote, or the end. */
  function readOutside(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === quote) {
        const isContent = isValueNext && !isFound && nesting.length === 1 && isNamed();
        state = isContent ? 'content' : 'string';
        isFound ||= isContent;
        latestName = isNameNext && nesting.length === 1 ? '' : undefined;
        isNameNext = false;
        isValueNext = false;
        return at + 1;
      }
      if (byte === openBrace || byte === openBracket) {
        nesting.push(byte === openBrace ? 'object' : 'array');
      } else if (byte === closeBrace || byte === closeBracket) {
        nesting.pop();
      } else if (byte === colon) {
        isValueNext = latestName !== undefined;
        continue;
      } else if (byte !== comma) continue;
      isNameNext = byte !== openBracket && nesting.at(-1) === 'object';
      isValueNext = false;
      latestName = undefined;
    }
    return bytes.length;
  }

  /** Reads inside an ordinary string. Returns the position after its quote, or the end. */
  function readString(bytes: Buffer, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) {
        state = 'outside';
        break;
      }
    }
    // A longer name is none that is looked for.
    if (latestName !== undefined && latestName.length < 100) latestName += bytes.toString('latin1', from, at);
    return Math.min(at + 1, bytes.length);
  }

  /** Reads inside the string that is taken out. Returns the position of its quote, or the end. */
  function readContent(bytes: Buffer, from: number, onText: (text: string) => void): number {
    let at = from;
    while (at < bytes.length) {
      if (sequence !== '') {
        sequence += String.fromCharCode(bytes[at] ?? 0);
        at++;
        if (sequence.length < (sequence[1] === 'u' ? 6 : 2)) continue;
        onText(unescaped(sequence, name));
        sequence = '';
        continue;
      }
      const end = firstOf(bytes, at);
      if (end > at) onText(bytes.toString('latin1', at, end));
      at = end;
      if (bytes[at] === quote) {
        state = 'outside';
        return at;
      }
      if (bytes[at] === backslash) {
        sequence = '\\';
        at++;
      }
    }
    return at;
  }

  return {
    push(bytes, onText) {
      const rest: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        if (state === 'content') {
          at = readContent(bytes, at, onText);
          // The closing quote belongs to the rest.
          if (at < bytes.length) rest.push(bytes.subarray(at, at + 1));
          at++;
          continue;
        }
        const from = at;
        at = state === 'outside' ? readOutside(bytes, at) : readString(bytes, at);
        rest.push(bytes.subarray(from, at));
      }
      return Buffer.concat(rest);
    },
    get isFound() {
      return isFound;
    },
  };
}

/** The position of the next quote or backslash, or the end. */
function firstOf(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(quote, from);
  const bound = end === -1 ? bytes.length : end;
  const escaped = bytes.subarray(from, bound).indexOf(backslash);
  return escaped === -1 ? bound : from + escaped;
}

function unescaped(sequence: string, name: string): string {
  try {
    return JSON.parse(`"${sequence}"`);
  } catch {
    throw bodyUnreadable('The body is not valid JSON in UTF-8.', `/${name}`);
  }
}
