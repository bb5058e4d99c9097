import { escaped, isEchoable } from './json-pointer.ts';

export interface JsonLimits {
  /** Maximum nesting of objects and arrays. */
  readonly depth: number;
  /** Maximum number of values; objects and arrays count too. */
  readonly values: number;
}

export type JsonFault =
  | { readonly kind: 'too deep' | 'too many values' }
  /**
   * A name occurs twice in one object. `pointer` refers to it, or to the last ancestor that may be echoed (then
   * `isWhole` is false).
   */
  | { readonly kind: 'repeated name'; readonly pointer: string; readonly isWhole: boolean };

/** An object or array that is not closed at the current position. */
interface Open {
  /** Names seen so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The current name of an object, or the current index of an array. */
  at: string | number;
  isBeforeName: boolean;
}

/**
 * Checks a JSON text against the limits and for repeated names, in one pass and before it is parsed. Does not detect
 * all invalid JSON; `JSON.parse` does.
 */
export function scanJson(text: string, limits: JsonLimits): JsonFault | undefined {
  const open: Open[] = [];
  let values = 0;
  for (let position = 0; position < text.length; position += 1) {
    const here = open.at(-1);
    switch (text[position]) {
      case ' ':
      case '\t':
      case '\n':
      case '\r':
      case ':':
        continue;
      case ',':
        if (here) advance(here);
        continue;
      case '}':
      case ']':
        open.pop();
        continue;
      case '"': {
        const end = endOfString(text, position);
        const literal = text.slice(position, end + 1);
        position = end;
        if (!here?.names || !here.isBeforeName) break;
        here.at = nameOf(literal);
        here.isBeforeName = false;
        if (here.names.has(here.at)) return { kind: 'repeated name', ...pointerTo(open) };
        here.names.add(here.at);
        continue;
      }
      case '{':
      case '[': {
        if (open.length === limits.depth) return { kind: 'too deep' };
        const isObject = text[position] === '{';
        open.push({ names: isObject ? new Set() : undefined, at: 0, isBeforeName: isObject });
        break;
      }
      default:
        position = endOfWord(text, position);
    }
    values += 1;
    if (values > limits.values) return { kind: 'too many values' };
  }
  return undefined;
}

function advance(here: Open): void {
  if (here.names) here.isBeforeName = true;
  else if (typeof here.at === 'number') here.at += 1;
}

/** Index of the closing quote, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position += 1) {
    if (text[position] === '\\') position += 1;
    else if (text[position] === '"') return position;
  }
  return text.length;
}

const endsWord = new Set([' ', '\t', '\n', '\r', ':', ',', '{', '}', '[', ']', '"']);

/** Index of the last character of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let end = start;
  while (end + 1 < text.length && !endsWord.has(text.charAt(end + 1))) end += 1;
  return end;
}

/** Decodes escapes, because `"a"` and `"\u0061"` are the same name. */
function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

function pointerTo(open: readonly Open[]): { readonly pointer: string; readonly isWhole: boolean } {
  const parts = open.map(({ at }) => at);
  const hidden = parts.findIndex((part) => typeof part === 'string' && !isEchoable(part));
  const shown = hidden === -1 ? parts : parts.slice(0, hidden);
  return { pointer: shown.map((part) => `/${escaped(String(part))}`).join(''), isWhole: hidden === -1 };
}
