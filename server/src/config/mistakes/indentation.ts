interface Level {
  readonly column: number;
  readonly kinds: Set<'key' | 'entry'>;
}

interface Mistake {
  /** One-based. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/**
 * The wrong indentation that explains why a YAML file cannot be parsed: in the line where the parser stopped, or in the next
 * one, since the parser reports a value that is followed by deeper lines. Quotes nothing from the file.
 *
 * @param stoppedAt one-based line
 */
export function indentationMistake(text: string, stoppedAt: number): Mistake | undefined {
  const found = mistakesIn(text.split(/\r?\n/));
  return found.find(({ line }) => line === stoppedAt) ?? found.find(({ line }) => line === nextLine(text, stoppedAt));
}

function nextLine(text: string, line: number): number {
  const rest = text.split(/\r?\n/).slice(line);
  return line + 1 + rest.findIndex((it) => !isBlank(it));
}

/** Compares each line in block style with the lines above that it can continue. */
function mistakesIn(lines: readonly string[]): Mistake[] {
  const mistakes: Mistake[] = [];
  let levels: Level[] = [];
  let isOpen = true;
  /** Column of the key whose value is text of several lines, or `undefined`. */
  let textBelow: number | undefined;
  let brackets = 0;
  lines.forEach((line, index) => {
    const indent = line.search(/[^ ]/);
    if (isBlank(line)) return;
    if (textBelow !== undefined && indent > textBelow) return;
    textBelow = undefined;
    const content = withoutCommentAndQuotes(line);
    const isInBrackets = brackets > 0;
    brackets += count(content, /[[{]/g) - count(content, /[\]}]/g);
    if (isInBrackets) return;

    const [, dashes = '', body = ''] = /^ *((?:-(?: +|$))*)(.*)$/.exec(content) ?? [];
    const kind = dashes === '' ? 'key' : 'entry';
    const above = levels;
    levels = levels.filter(({ column }) => column <= indent);
    const level = levels.at(-1);
    const isDeeper = level === undefined || level.column < indent;
    if (above.length > 0 && !(isDeeper ? isOpen && levels.length === above.length : isOpen || level?.kinds.has(kind))) {
      mistakes.push({ line: index + 1, column: indent + 1, text: wording(indent, kind, above) });
    }
    levels = withKind(levels, indent, kind);
    for (const dash of dashes.matchAll(/- */g)) {
      const next = indent + dash.index + dash[0].length;
      const isLast = dash.index + dash[0].length === dashes.length;
      if (!isLast || body !== '') levels = withKind(levels, next, isLast ? 'key' : 'entry');
    }
    isOpen = body === '' || /:( +[&!]\S+)*$/.test(body);
    if (/(^|[:-] )[|>][0-9+-]*$/.test(content)) textBelow = indent;
  });
  return mistakes;
}

function withKind(levels: readonly Level[], column: number, kind: 'key' | 'entry'): Level[] {
  const known = levels.find((level) => level.column === column);
  known?.kinds.add(kind);
  return known ? [...levels] : [...levels, { column, kinds: new Set([kind]) }];
}

function wording(indent: number, kind: 'key' | 'entry', above: readonly Level[]): string {
  const columns = above.filter(({ kinds }) => kinds.has(kind)).map(({ column }) => column);
  const near = [columns.findLast((it) => it < indent), columns.find((it) => it >= indent)]
    .filter((it) => it !== undefined)
    .toReversed();
  const begins = `this line begins with ${spaces(indent)}`;
  if (near.length === 0) return `wrong indentation: ${begins}`;
  const things = kind === 'key' ? 'keys' : 'list entries';
  return `wrong indentation: ${begins}, but the ${things} above with ${near.join(' or ')}`;
}

function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`;
}

function isBlank(line: string): boolean {
  return /^\s*(#.*|---.*|\.\.\.)?$/.test(line);
}

/** Quoted text becomes a word, so that its characters do not count. */
function withoutCommentAndQuotes(line: string): string {
  return line
    .replace(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/g, 'text')
    .replace(/(^|\s)#.*$/, '')
    .trimEnd();
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
