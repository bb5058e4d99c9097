import { escaped, isSpeakable } from './json-pointer.ts';

export interface JsonLimits {
  /** Objects and arrays inside each other. */
  readonly depth: number;
  /** Values of every kind: objects, arrays, and what is in them. */
  readonly values: number;
}

export type JsonFault =
  | { readonly kind: 'too deep' | 'too many values' }
  /** A name that stands twice in one object. `pointer` leads to it, or as far as its parts may be told back. */
  | { readonly kind: 'repeated name'; readonly pointer: string; readonly isWhole: boolean };

/** An object or array that is not closed yet. */
interface Open {
  /** Of an object. */
  readonly names: Set<string> | undefined;
  /** Where we are in it: a name, or the index of an item. */
  at: string | number;
  isBeforeName: boolean;
}

/**
 * What is wrong with a JSON text before anything is made of it: in one pass over its characters, whatever it holds. Of
 * what is no JSON it may find nothing; that is for `JSON.parse` to say.
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
        if (here) goOn(here);
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

function goOn(here: Open): void {
  if (here.names) here.isBeforeName = true;
  else if (typeof here.at === 'number') here.at += 1;
}

/** Where the closing quote stands, or the text ends. */
function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position += 1) {
    if (text[position] === '\\') position += 1;
    else if (text[position] === '"') return position;
  }
  return text.length;
}

const endsWord = new Set([' ', '\t', '\n', '\r', ':', ',', '{', '}', '[', ']', '"']);

/** The last character of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let end = start;
  while (end + 1 < text.length && !endsWord.has(text.charAt(end + 1))) end += 1;
  return end;
}

/** The same name may be written in two ways: `"a"` and `"\u0061"`. */
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
  const unspeakable = parts.findIndex((part) => typeof part === 'string' && !isSpeakable(part));
  const told = unspeakable === -1 ? parts : parts.slice(0, unspeakable);
  return { pointer: told.map((part) => `/${escaped(String(part))}`).join(''), isWhole: unspeakable === -1 };
}
