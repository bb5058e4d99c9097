import { decoder } from './charset.ts';

/*
 * The text of an RTF file. Follows the Rich Text Format Specification 1.9.1 as far as text goes: characters, paragraphs,
 * tabs, table cells, code pages and Unicode. Text that is hidden or marked as deleted is left out, and so is every
 * destination that is no part of the text.
 */

const skippedDestinations = new Set([
  ...['fonttbl', 'colortbl', 'stylesheet', 'listtable', 'listoverridetable', 'revtbl', 'rsidtbl', 'filetbl', 'info'],
  ...['generator', 'pict', 'object', 'datastore', 'themedata', 'colorschememapping', 'latentstyles', 'xmlnstbl'],
  ...['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf', 'fldinst', 'mmathPr'],
]);

const symbols: Readonly<Record<string, string>> = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  cell: '\t',
  nestcell: '\t',
  nestrow: '\n',
  tab: '\t',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
  '~': '\u00a0',
  _: '\u2011',
  '{': '{',
  '}': '}',
  '\\': '\\',
  '\n': '\n',
  '\r': '\n',
};

interface Group {
  readonly isSkipped: boolean;
  readonly isHidden: boolean;
  readonly isDeleted: boolean;
  /** How many characters follow `\u` for readers that do not know Unicode. */
  readonly alternatives: number;
}

/** A control word with its number, a control symbol, a byte, a brace, or characters. */
const token = /\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/giy;

/** Reads RTF, as bytes. */
export function rtfToText(bytes: Uint8Array): string {
  const rtf = Buffer.from(bytes).toString('latin1');
  const groups: Group[] = [];
  let group: Group = { isSkipped: false, isHidden: false, isDeleted: false, alternatives: 1 };
  let codePage = decoder('windows-1252');
  let text = '';
  let pending: number[] = [];
  /** Characters that repeat the last `\u` for other readers. */
  let toSkip = 0;

  function flush(): void {
    if (pending.length === 0) return;
    text += codePage?.decode(Uint8Array.from(pending)) ?? '';
    pending = [];
  }
  const isShown = () => !group.isSkipped && !group.isHidden && !group.isDeleted;
  /** @param characters one for each byte */
  function addBytes(characters: string): void {
    const skipped = Math.min(toSkip, characters.length);
    toSkip -= skipped;
    if (!isShown()) return;
    for (let at = skipped; at < characters.length; at++) pending.push(characters.charCodeAt(at));
  }
  function add(characters: string): void {
    flush();
    if (toSkip > 0) toSkip -= 1;
    else if (isShown()) text += characters;
  }

  token.lastIndex = 0;
  for (let match = token.exec(rtf); match; match = token.exec(rtf)) {
    const [, word, number, hex, symbol, brace, characters] = match;
    if (brace === '{') {
      toSkip = 0;
      groups.push(group);
    } else if (brace === '}') {
      flush();
      toSkip = 0;
      group = groups.pop() ?? group;
    } else if (hex !== undefined) addBytes(String.fromCharCode(Number.parseInt(hex, 16)));
    else if (characters !== undefined) addBytes(characters);
    else if (symbol === '*') group = { ...group, isSkipped: true };
    else if (symbol !== undefined) {
      if (symbols[symbol] !== undefined) add(symbols[symbol]);
    } else if (word !== undefined) control(word, number === undefined ? undefined : Number(number));
  }
  flush();
  return text.trim();

  function control(word: string, number: number | undefined): void {
    const isOn = number !== 0;
    if (word === 'u' && number !== undefined) {
      add(String.fromCharCode(number < 0 ? number + 65_536 : number));
      toSkip = group.alternatives;
    } else if (word === 'bin') token.lastIndex += Math.max(0, number ?? 0);
    else if (symbols[word] !== undefined) add(symbols[word]);
    else if (word === 'uc') group = { ...group, alternatives: Math.max(0, number ?? 1) };
    else if (word === 'v') group = { ...hiding(), isHidden: isOn };
    else if (word === 'deleted') group = { ...hiding(), isDeleted: isOn };
    else if (word === 'plain') group = { ...hiding(), isHidden: false, isDeleted: false };
    else if (word === 'ansicpg') codePage = decoder(labelOf(number)) ?? codePage;
    else if (word === 'mac') codePage = decoder('macintosh');
    else if (skippedDestinations.has(word)) group = { ...group, isSkipped: true };
  }
  /** The group, before what is shown changes. */
  function hiding(): Group {
    flush();
    return group;
  }
}

/** https://learn.microsoft.com/windows/win32/intl/code-page-identifiers */
function labelOf(codePage: number | undefined): string {
  const others: Readonly<Record<number, string>> = {
    866: 'ibm866',
    874: 'windows-874',
    932: 'shift_jis',
    936: 'gbk',
    949: 'euc-kr',
    950: 'big5',
    10000: 'macintosh',
    65001: 'utf-8',
  };
  return others[codePage ?? 0] ?? `windows-${codePage}`;
}
