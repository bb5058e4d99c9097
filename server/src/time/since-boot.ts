import { uptime } from 'node:os';

/**
 * Milliseconds since the machine started. Nobody can set this clock, and unlike `performance.now()` it goes on while Linux is
 * suspended.
 */
export function sinceBoot(): number {
  return uptime() * 1000;
}
