/** Line and column of a character, both from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** White space, then one token of JSON (RFC 8259 sections 2 to 7) if there is one. */
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a string must not contain them.
  /[ \t\n\r]*(?:([{}[\],:])|(?:"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))?/y;

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/**
 * Where a text stops being JSON: at the first token that cannot be there, or at its end. `undefined` for valid JSON. The
 * messages of `JSON.parse` have a position in some cases only, and quote the text.
 */
export function syntaxErrorIn(text: string): TextPosition | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let position = 0; ; position = token.lastIndex) {
    token.lastIndex = position;
    const [found = '', mark] = token.exec(text) ?? [];
    const start = position + (/[^ \t\n\r]/.exec(found)?.index ?? found.length);
    if (start === text.length && expected === 'nothing') return undefined;
    const next: Expected | undefined =
      start === position + found.length ? undefined : following(expected, mark ?? found.trim(), open);
    if (next === undefined) return positionOf(text, start);
    expected = next;
  }
}

/** What may follow a token, or `undefined` if the token cannot be here. `open` has the brackets that are not closed. */
function following(expected: Expected, found: string, open: string[]): Expected | undefined {
  const isValue = expected === 'value' || expected === 'value or end';
  switch (found) {
    case '{':
    case '[':
      if (!isValue) return undefined;
      open.push(found);
      return found === '{' ? 'name or end' : 'value or end';
    case '}':
    case ']': {
      const isEnd = expected === 'comma or end' || expected === (found === '}' ? 'name or end' : 'value or end');
      return isEnd && open.pop() === (found === '}' ? '{' : '[') ? afterValue(open) : undefined;
    }
    case ':':
      return expected === 'colon' ? 'value' : undefined;
    case ',':
      if (expected !== 'comma or end') return undefined;
      return open.at(-1) === '{' ? 'name' : 'value';
    default:
      if (isValue) return afterValue(open);
      return found.startsWith('"') && (expected === 'name' || expected === 'name or end') ? 'colon' : undefined;
  }
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma or end';
}

function positionOf(text: string, at: number): TextPosition {
  const lines = text.slice(0, at).split(/\r\n|[\r\n]/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
