import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { indentationMistake } from '../mistakes/indentation.ts';
import type { Path } from '../mistakes/mistake.ts';

/** One-based; columns count UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlFile {
  readonly value: unknown;
  /** Position of the value or its key. For an absent or empty value: of its key or the mapping around it. */
  locate(path: Path, at: 'value' | 'key'): Position;
}

export interface YamlMistake {
  readonly position: Position;
  readonly text: string;
}

// The parser's own messages quote text from the file, which can be a secret.
const wording: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'unknown alias; put text that starts with * in quotes',
  BAD_COLLECTION_TYPE: 'the tag does not match the collection',
  BAD_DIRECTIVE: 'unknown or malformed directive',
  BAD_DQ_ESCAPE: 'unknown escape in double quotes; use single quotes for a literal backslash',
  BAD_INDENT: 'the indentation does not match the lines above',
  BAD_PROP_ORDER: 'anchor and tag must come after the indicator',
  BAD_SCALAR_START: 'text that starts with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping cannot start on the same line as its key',
  BLOCK_IN_FLOW: 'block collections are not allowed inside [ ] and { }',
  DUPLICATE_KEY: 'this key is repeated in the same mapping',
  IMPOSSIBLE: 'this cannot be read',
  KEY_OVER_1024_CHARS: 'the key is longer than 1024 characters',
  MISSING_CHAR: 'a character is missing here, such as a colon, a comma, a quote or a closing bracket',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; is a colon missing?',
  MULTIPLE_ANCHORS: 'a value can have only one anchor',
  MULTIPLE_DOCS: 'the file must contain one document; a second one starts here',
  MULTIPLE_TAGS: 'a value can have only one tag',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAB_AS_INDENT: 'tabs cannot be used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'unknown tag, or the value does not match its tag',
  UNEXPECTED_TOKEN: 'unexpected text',
};

/** Parses one YAML 1.2 document. Returns the file, or the mistakes if it is not valid YAML. */
export function parseYaml(text: string): YamlFile | { readonly mistakes: readonly YamlMistake[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    stringKeys: true,
    prettyErrors: false,
    lineCounter: lines,
    // 'silent' would ignore a second document.
    logLevel: 'error',
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const mistakes = withoutConsequences([...document.errors, ...document.warnings]).map(({ pos, code }) =>
    explain(text, positionAt(pos[0]), code),
  );
  if (mistakes.length === 0) mistakes.push(...aliasMistakes(document, positionAt));
  if (mistakes.length > 0) return { mistakes };

  try {
    const value: unknown = document.toJS();
    return { value, locate: (path, at) => positionAt(offsetOf(document, path, at)) };
  } catch {
    // The parser limits alias expansion, so that a small file cannot become a huge one.
    return { mistakes: [{ position: positionAt(0), text: 'the aliases in this file expand to too many values' }] };
  }
}

/** What the author of the file did, if the lines show it; otherwise where the parser stopped, and why. */
function explain(text: string, position: Position, code: ErrorCode): YamlMistake {
  if (recoverable.has(code) || code === 'TAB_AS_INDENT') return { position, text: wording[code] };
  const line = text.split(/\r?\n/)[position.line - 1] ?? '';
  if (/^ *\t/.test(line)) return { position, text: wording.TAB_AS_INDENT };
  const [key = ''] = /^ *(- +)*[\w.-]+:(?=[^\s:])/.exec(line) ?? [];
  if (key !== '' && code === 'MULTILINE_IMPLICIT_KEY')
    return { position: { ...position, column: key.length }, text: 'a space is missing after the colon' };
  const [hyphen = ''] = /^ *-(?=[\w"'])/.exec(line) ?? [];
  if (hyphen !== '')
    return { position: { ...position, column: hyphen.length }, text: 'a space is missing after the -' };
  const indentation = indentationMistake(text, position.line);
  if (indentation) {
    const { line: at, column, text: what } = indentation;
    return { position: { line: at, column }, text: what };
  }
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /:\s.*:(\s|$)/.test(line))
    return { position, text: 'text that contains a colon and a space must be in quotes' };
  return { position, text: wording[code] };
}

/** Mistakes after which the parser can continue reliably. */
const recoverable: ReadonlySet<ErrorCode> = new Set([
  'DUPLICATE_KEY',
  'TAG_RESOLVE_FAILED',
  'BAD_DQ_ESCAPE',
  'NON_STRING_KEY',
]);

/** Drops mistakes after the first structural one, because they are usually consequences of it. */
function withoutConsequences(problems: readonly YAMLError[]): readonly YAMLError[] {
  const inOrder = problems.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const structural = inOrder.findIndex(({ code }) => !recoverable.has(code));
  return structural < 0 ? inOrder : inOrder.slice(0, structural + 1);
}

function aliasMistakes(document: Document.Parsed, positionAt: (offset: number) => Position): YamlMistake[] {
  const mistakes: YamlMistake[] = [];
  visit(document, {
    Alias(_key, node, ancestors) {
      const source = node.resolve(document);
      const text =
        source === undefined
          ? wording.BAD_ALIAS
          : ancestors.includes(source)
            ? 'this alias refers to a value that contains it'
            : undefined;
      if (text !== undefined) mistakes.push({ position: positionAt(node.range?.[0] ?? 0), text });
    },
  });
  return mistakes;
}

function offsetOf(document: Document.Parsed, path: Path, at: 'value' | 'key'): number {
  let node: unknown = document.contents;
  let key: unknown = node;
  for (const part of path) {
    const holder: unknown = isAlias(node) ? node.resolve(document) : node;
    if (isMap(holder)) {
      const pair = holder.items.find((item) => isScalar(item.key) && item.key.value === part);
      if (pair === undefined) break;
      key = pair.key;
      node = isEmpty(pair.value) ? pair.key : pair.value;
    } else if (isSeq(holder)) {
      node = holder.items[Number(part)];
      key = node;
    } else break;
  }
  const target = at === 'key' ? key : node;
  return isNode(target) ? startOf(target) : 0;
}

function isEmpty(node: unknown): boolean {
  return !isNode(node) || (isScalar(node) && node.value === null && node.source === '');
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
