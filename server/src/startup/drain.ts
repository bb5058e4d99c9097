/** The time in which a gateway that stops still serves requests. */
export interface Drain {
  readonly hasBegun: boolean;
  /** Begins, and resolves after the time or when `end` is called. */
  wait(seconds: number): Promise<void>;
  /** Returns whether it was under way. */
  end(): boolean;
}

export function createDrain(): Drain {
  let finish: (() => void) | undefined;
  const drain = {
    hasBegun: false,
    async wait(seconds: number) {
      drain.hasBegun = true;
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
  return drain;
}
