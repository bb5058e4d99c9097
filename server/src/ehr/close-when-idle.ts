/** Milliseconds. Longer than any request, and any round of a background job, goes on without a call. */
const longestPause = 600_000;

interface Closable {
  isIdle(): boolean;
  close(): Promise<void>;
}

/**
 * Closes a connection that only work which has begun still uses: after ten minutes without a call.
 *
 * @param onClosed called when that has happened
 */
export function closeWhenIdle(link: Closable, onClosed: () => void): { close(): Promise<void> } {
  let idleSince = performance.now();
  const timer = setInterval(() => {
    if (!link.isIdle()) idleSince = performance.now();
    else if (performance.now() - idleSince >= longestPause) {
      close().catch(() => undefined);
      onClosed();
    }
  }, longestPause / 20).unref();

  async function close(): Promise<void> {
    clearInterval(timer);
    await link.close();
  }
  return { close };
}
