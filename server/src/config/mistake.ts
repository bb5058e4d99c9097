/** Keys and indices from the top of the file down. */
export type Path = readonly (string | number)[];

/** Something wrong in the file. `text` never holds a value that could be secret. */
export interface Mistake {
  readonly path: Path;
  /** Where to point: at the value, or at the key that should not be there. */
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

/** In double quotes, cut when long, without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
