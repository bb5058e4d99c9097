/** The concurrent attempts of a process. */
export interface Places<Queue> {
  /** How many more attempts at what is in this queue may start. */
  free(queue: Queue): number;
  take(queue: Queue, count: number): void;
  release(queue: Queue, count: number): void;
}

interface Work<Queue, Item> {
  readonly places: Places<Queue>;
  /** Claims up to `limit` that are due. Another process may claim them after a while, if this one is killed. */
  readonly claim: (queue: Queue, limit: number) => Promise<readonly Item[]>;
  /** Makes an attempt and records its outcome. Must not reject. */
  readonly attempt: (queue: Queue, item: Item) => Promise<void>;
  /** The queue as it is after an attempt. `undefined`: nothing is due. */
  readonly reread: (queue: Queue) => Promise<Queue | undefined>;
  /** Called when claims after an attempt have failed. The next look finds what is due. */
  readonly failed: (queue: Queue, error: unknown) => void;
}

export interface ClaimedWork<Queue> {
  /** Claims what is due, for the free places, and starts attempts without waiting for them. Returns how many. */
  start(queue: Queue): Promise<number>;
  /** As `start`, in the background, and after the queue was read again. */
  refill(queue: Queue): void;
  /** Claims nothing any more, and waits for attempts in progress. */
  stop(): Promise<void>;
}

/**
 * Works off queues in the database. Several gateways share the work: a claim excludes others until it expires, so that what
 * a killed process has claimed is tried again.
 */
export function createClaimedWork<Queue, Item>(work: Work<Queue, Item>): ClaimedWork<Queue> {
  const { places, claim, attempt, reread, failed } = work;
  /** Attempts, and claims after them. */
  const running = new Set<Promise<void>>();
  let isStopped = false;

  function track(promise: Promise<void>): void {
    const tracked = promise.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  async function start(queue: Queue): Promise<number> {
    const free = places.free(queue);
    if (free <= 0 || isStopped) return 0;
    places.take(queue, free);
    const claimed = await claim(queue, free).finally(() => places.release(queue, free));
    for (const item of claimed) {
      places.take(queue, 1);
      track(
        attempt(queue, item).finally(() => {
          places.release(queue, 1);
          refill(queue);
        }),
      );
    }
    return claimed.length;
  }

  function refill(queue: Queue): void {
    if (isStopped) return;
    const refilled = async () => {
      const current = await reread(queue);
      if (current !== undefined) await start(current);
    };
    track(refilled().catch((error) => failed(queue, error)));
  }

  return {
    start,
    refill,
    async stop() {
      isStopped = true;
      while (running.size > 0) await Promise.all(running);
    },
  };
}
