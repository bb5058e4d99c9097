import os from 'node:os';

/**
 * Milliseconds since the machine started. Nobody can set this clock, and unlike `performance.now()` it goes on while Linux is
 * suspended.
 */
export function sinceBoot(): number {
  return os.uptime() * 1000;
}
