import type { Writable } from 'node:stream';

/**
 * Lets the program end as it would otherwise if the reader of its output has gone, such as `head -1` (EPIPE). Without
 * this, Node.js prints a stack trace and ends it, perhaps in the middle of a change. Other errors still end it.
 */
export function tolerateClosedOutput(...outputs: readonly Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
