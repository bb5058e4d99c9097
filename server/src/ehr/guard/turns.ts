import { BulkheadRejectedError, bulkhead } from 'cockatiel';

interface TurnSettings {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** Takes work in its turn, so much at once. Work that `refused` was made for has not begun and never will. */
export type Turns = <Result>(work: () => Promise<Result>, refused: () => Error) => Promise<Result>;

/**
 * A crowd is let wait by time rather than by number: a quick EHR serves hundreds who come at once within the time, and
 * behind a slow one nobody waits longer than that.
 */
export function createTurns({ concurrency, queue, queueTimeoutMs }: TurnSettings): Turns {
  const policy = bulkhead(concurrency, queue);
  return <Result>(work: () => Promise<Result>, refused: () => Error) => {
    if (policy.executionSlots > 0) return policy.execute(work);
    return new Promise<Result>((resolve, reject) => {
      const gaveUp = new AbortController();
      const timer = setTimeout(() => {
        gaveUp.abort();
        reject(refused());
      }, queueTimeoutMs);
      const begin = () => {
        clearTimeout(timer);
        return work();
      };
      policy.execute(begin, gaveUp.signal).then(resolve, (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof BulkheadRejectedError ? refused() : error);
      });
    });
  };
}
