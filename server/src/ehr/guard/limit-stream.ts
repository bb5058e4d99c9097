import { ConnectorError } from '@crossward/connector-kit';

export interface StreamLimits {
  /** Time without progress, of the EHR or of the reader, after which the stream ends. */
  readonly idleMs: number;
  /** Duration of the whole stream, or of a call that sends one. */
  readonly totalMs: number;
}

/** A stream of an EHR that ends in time, whatever its reader does. */
export interface LimitedStream {
  readonly chunks: AsyncIterableIterator<Uint8Array>;
  /** Resolves when nothing is read from the EHR any more: at the end, after a failure or a time-out, or when the reader leaves. */
  readonly ended: Promise<void>;
}

/**
 * Limits a stream. A time-out cancels it in the EHR at once, even if nobody reads.
 *
 * @throws ConnectorError `timeout`, from `next`
 */
export function limitStream(source: AsyncIterable<Uint8Array>, { idleMs, totalMs }: StreamLimits): LimitedStream {
  const iterator = source[Symbol.asyncIterator]();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>();
  let isOver = false;
  let failure: Error | undefined;
  /** Rejects the read in progress. */
  let interrupt: ((error: Error) => void) | undefined;
  let idle = setTimeout(tooLate, idleMs);
  const total = setTimeout(tooLate, totalMs);

  function end(): void {
    isOver = true;
    clearTimeout(idle);
    clearTimeout(total);
    resolveEnded();
  }
  function cancel(): void {
    if (isOver) return;
    end();
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
  function tooLate(): void {
    failure = new ConnectorError('timeout', 'The stream of a document made no progress, or took too long');
    interrupt?.(failure);
    cancel();
  }
  function progress(): void {
    clearTimeout(idle);
    idle = setTimeout(tooLate, idleMs);
  }

  /** Not Promise.race: with a promise that outlives the stream it would keep every chunk. */
  function interruptible<Result>(read: Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      interrupt = reject;
      read.then(resolve, reject);
    });
  }

  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      if (failure) throw failure;
      if (isOver) return { done: true, value: undefined };
      progress();
      try {
        const result = await interruptible(iterator.next());
        if (result.done) end();
        else if (!isOver) progress();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      cancel();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { chunks, ended };
}
