import { ConnectorError } from '@crossward/connector-kit';

export interface StreamLimits {
  /** Time without progress, of the EHR or of the reader, after which the stream ends. */
  readonly idleMs: number;
  /** Duration of the whole stream. */
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
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // The reader may have left.
  failed.catch(() => undefined);
  let isOver = false;
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
    reject(new ConnectorError('timeout', 'The stream of a document made no progress, or took too long'));
    cancel();
  }
  function progress(): void {
    clearTimeout(idle);
    idle = setTimeout(tooLate, idleMs);
  }

  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      if (isOver) return Promise.race([failed, { done: true as const, value: undefined }]);
      progress();
      try {
        const result = await Promise.race([iterator.next(), failed]);
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
