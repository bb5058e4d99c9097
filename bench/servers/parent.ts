/** What the benchmark wants of this server. */
export function readOptions<Options>(): Options {
  return JSON.parse(process.argv[2] ?? '{}') as Options;
}

/** Sends the URL to the benchmark, and stops when the benchmark is gone. */
export function report(url: string, stop: () => Promise<void>): void {
  process.once('disconnect', () => void stop());
  process.send?.(url);
}
