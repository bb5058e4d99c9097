/** In the order of code units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Key = string | number;

/** By the first key that differs; texts in the order of code units. */
export function compareKeys(a: readonly Key[], b: readonly Key[]): number {
  for (const [index, key] of a.entries()) {
    const other = b[index];
    if (other === undefined || key === other) continue;
    return key < other ? -1 : 1;
  }
  return 0;
}
