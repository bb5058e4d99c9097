/**
 * The file and line where a module threw. A SyntaxError has none.
 *
 * @returns ` (file:…)`, or an empty text
 */
export function placeOfMistake(error: unknown): string {
  const place = /file:\/\/[^\s()]+:\d+/.exec(error instanceof Error ? (error.stack ?? '') : '')?.[0];
  return place === undefined ? '' : ` (${place})`;
}
