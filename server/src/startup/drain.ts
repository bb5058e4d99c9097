/** The time in which a gateway that stops still serves requests. */
interface Drain {
  hasBegun(): boolean;
  /** Begins, and resolves after the time or when `end` is called. */
  wait(seconds: number): Promise<void>;
  /** Returns whether it was under way. */
  end(): boolean;
}

export function createDrain(): Drain {
  let begun = false;
  let finish: (() => void) | undefined;
  return {
    hasBegun: () => begun,
    async wait(seconds) {
      begun = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      finish = resolve;
      const timer = setTimeout(resolve, seconds * 1000);
      await promise;
      clearTimeout(timer);
      finish = undefined;
    },
    end() {
      finish?.();
      return finish !== undefined;
    },
  };
}
