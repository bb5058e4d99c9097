/** Keys and indices from the root of the file. */
export type Path = readonly (string | number)[];

/** A mistake in the file. `text` never contains a value that can be secret. */
export interface Mistake {
  readonly path: Path;
  /** What the position refers to: the value, or an unexpected key. */
  readonly at: 'value' | 'key';
  readonly text: string;
}

/** `['emrs', 0, 'time_zone']` as `emrs[0].time_zone`. */
export function formatPath(path: Path): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[\w-]+$/.test(part) ? `.${part}` : `[${quoted(part)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

/** Quotes the text. Truncates long text and escapes control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The file and line where a module threw. A SyntaxError has none.
 *
 * @returns ` (file:…)`, or an empty text
 */
export function placeOfMistake(error: unknown): string {
  const place = /file:\/\/[^\s()]+:\d+/.exec(error instanceof Error ? (error.stack ?? '') : '')?.[0];
  return place === undefined ? '' : ` (${place})`;
}
