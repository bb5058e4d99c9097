import os from 'node:os';

/** Milliseconds for which a reading counts: the system reads it from a file, which takes longer than most of a request does. */
const fresh = 2;

let readAt = Number.NEGATIVE_INFINITY;
let readAtTime = 0;
let reading = 0;

/**
 * Milliseconds since the machine started, at most 2 ago. Nobody can set this clock, and unlike `performance.now()` it goes on
 * while Linux is suspended.
 */
export function sinceBoot(): number {
  const now = performance.now();
  // `performance.now()` stands still while the machine is suspended, and the time of day then jumps.
  if (now - readAt > fresh || Math.abs(Date.now() - readAtTime) > 2 * fresh) {
    reading = os.uptime() * 1000;
    readAt = now;
    readAtTime = Date.now();
  }
  return reading;
}
