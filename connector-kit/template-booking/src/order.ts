/** Compares lists of sort keys: the first keys that differ decide. Texts are compared by code unit, as the port requires. */
export function compareKeys(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, key] of a.entries()) {
    const other = b[index];
    if (other === undefined || key === other) continue;
    return key < other ? -1 : 1;
  }
  return 0;
}
