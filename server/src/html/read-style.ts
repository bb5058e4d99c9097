import { readFileSync } from 'node:fs';

const base = new URL('./base.css', import.meta.url);

/** A style sheet: what all pages share, then the styles in these files. */
export function readStyle(...files: readonly URL[]): string {
  return [base, ...files].map((file) => readFileSync(file, 'utf8')).join('\n');
}
