/** Bytes that wait for the reader. With more, the source is paused. */
const mostQueued = 256 * 1024;

interface Source {
  pause(): void;
  resume(): void;
}

/** Chunks between a source that pushes and one reader that pulls. */
interface ChunkQueue {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
  /** @param cancel called when the reader leaves before the end */
  chunks(cancel: () => void): AsyncIterableIterator<Uint8Array>;
}

export function chunkQueue(source: Source): ChunkQueue {
  const queue: Uint8Array[] = [];
  let queued = 0;
  let isPaused = false;
  let hasEnded = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;

  function awaken(): void {
    wake?.();
    wake = undefined;
  }

  return {
    push(chunk) {
      queue.push(chunk);
      queued += chunk.length;
      if (queued > mostQueued && !isPaused) {
        isPaused = true;
        source.pause();
      }
      awaken();
    },
    end() {
      hasEnded = true;
      awaken();
    },
    fail(error) {
      failure = error;
      queue.splice(0);
      awaken();
    },
    chunks(cancel) {
      const iterator: AsyncIterableIterator<Uint8Array> = {
        async next() {
          for (;;) {
            const value = queue.shift();
            if (value) {
              queued -= value.length;
              if (isPaused && queued <= mostQueued) {
                isPaused = false;
                source.resume();
              }
              return { done: false, value };
            }
            if (failure) throw failure;
            if (hasEnded) return { done: true, value: undefined };
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        },
        async return() {
          if (!hasEnded && !failure) cancel();
          hasEnded = true;
          failure = undefined;
          queue.splice(0);
          awaken();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]: () => iterator,
      };
      return iterator;
    },
  };
}
