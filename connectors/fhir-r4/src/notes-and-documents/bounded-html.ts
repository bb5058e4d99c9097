import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** How deep elements may be nested. Notes need less, with tables in tables. */
const deepest = 100;

/** Elements that end when the other one begins, with their end tag missing: a part of what the HTML parser does. */
const endedBy: Readonly<Record<string, readonly string[]>> = {
  p: ['p'],
  li: ['li'],
  dt: ['dt', 'dd'],
  dd: ['dt', 'dd'],
  option: ['option'],
  th: ['th'],
  td: ['th', 'td'],
  tr: ['tr', 'th', 'td'],
};
const withoutEnd = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'wbr']);
const none = () => undefined;

/**
 * HTML in which no element is nested deeper than a bound: the tags of deeper ones are left out, and their text stays. Each
 * tag costs the HTML parser as much as it is deep, so a document of many nested elements would block the process.
 */
export function boundedHtml(html: string): string {
  const kept: string[] = [];
  let copied = 0;
  /** The elements that are open in what is kept, from the outermost. */
  const open: string[] = [];
  /** How many elements of each name were left out and are open. */
  const omitted = new Map<string, number>();
  let omittedFrom: number | undefined;

  function omit(start: number, end: number): void {
    kept.push(html.slice(copied, start));
    copied = end;
  }
  function begins(name: string): boolean {
    while (endedBy[name]?.includes(open.at(-1) ?? '')) open.pop();
    if (withoutEnd.has(name)) return true;
    if (open.length < deepest) return open.push(name) > 0;
    omitted.set(name, (omitted.get(name) ?? 0) + 1);
    return false;
  }
  function ends(name: string): boolean {
    const count = omitted.get(name) ?? 0;
    if (count > 0) {
      omitted.set(name, count - 1);
      return false;
    }
    const at = open.lastIndexOf(name);
    if (at === -1) return true;
    open.length = at;
    omitted.clear();
    return true;
  }
  function tagEnds(last: number): void {
    if (omittedFrom !== undefined) omit(omittedFrom, last + 1);
    omittedFrom = undefined;
  }

  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      if (!begins(html.slice(start, end).toLowerCase())) omittedFrom = start - 1;
    },
    onopentagend: tagEnds,
    onselfclosingtag: tagEnds,
    onclosetag(start, end) {
      if (ends(html.slice(start, end).toLowerCase())) return;
      const last = html.indexOf('>', end);
      omit(html.lastIndexOf('<', start), last === -1 ? html.length : last + 1);
    },
    onattribdata: none,
    onattribentity: none,
    onattribend: none,
    onattribname: none,
    oncdata: none,
    oncomment: none,
    ondeclaration: none,
    onend: none,
    onprocessinginstruction: none,
    ontext: none,
    ontextentity: none,
  };
  const tokenizer = new Tokenizer({ decodeEntities: false }, callbacks);
  tokenizer.write(html);
  tokenizer.end();
  return kept.length === 0 ? html : kept.join('') + html.slice(copied);
}
