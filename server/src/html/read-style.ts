import { readFileSync } from 'node:fs';

const base = readFileSync(new URL('./base.css', import.meta.url), 'utf8');

/** A style sheet: what all pages share, then the style in this file. */
export function readStyle(file: URL): string {
  return `${base}\n${readFileSync(file, 'utf8')}`;
}
