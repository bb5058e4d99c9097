const first = 100;
const longest = 30_000;

/** Milliseconds before a worker is started again: 100, 200, 400 and so on, up to 30,000. */
export function restartPause(endsInARow: number): number {
  return Math.min(first * 2 ** Math.max(0, endsInARow - 1), longest);
}
