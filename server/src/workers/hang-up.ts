/**
 * Calls this on SIGHUP, in place of what was to be called before. The signal ends a process by default; it comes from a closed
 * terminal, or from an operator who expects that the configuration is read again.
 */
export function onHangUp(listener: () => void): void {
  process.removeAllListeners('SIGHUP');
  process.on('SIGHUP', listener);
}
