/** Whose call it is: the client id, or `undefined` for background jobs. */
export type Caller = string | undefined;

interface TurnSettings {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** Runs work with limited concurrency. Rejects with the error made by `rejected` if the work is not started. */
export interface Turns {
  <Result>(caller: Caller, work: () => Promise<Result>, rejected: () => Error): Promise<Result>;
  /** Nobody has a turn or waits for one. */
  isIdle(): boolean;
}

interface Waiting {
  begin(): void;
  reject(): void;
}

/** The queue of one caller. */
interface Line {
  turns: number;
  /** First in, first out. */
  readonly waiting: Set<Waiting>;
}

/**
 * A fair queue: callers share the turns. A free turn goes to the waiting caller with the fewest turns; among equals, to
 * the one served least recently. If the queue is full, the caller with the most queued entries loses its newest one to a
 * caller with fewer. A caller that fills the queue therefore delays others by one turn at most.
 *
 * The wait is limited mainly by time: a fast EHR can serve hundreds of queued calls within the limit, and with a slow
 * EHR no call waits longer.
 */
export function createTurns({ concurrency, queue, queueTimeoutMs }: TurnSettings): Turns {
  /** Callers with a turn or in the queue. The caller served most recently is last. */
  const lines = new Map<Caller, Line>();
  let taken = 0;
  let waiting = 0;

  function lineOf(caller: Caller): Line {
    const line = lines.get(caller) ?? { turns: 0, waiting: new Set() };
    if (!lines.has(caller)) lines.set(caller, line);
    return line;
  }

  function take(caller: Caller, line: Line): void {
    line.turns++;
    lines.delete(caller);
    lines.set(caller, line);
  }

  function leave(line: Line, one: Waiting): void {
    if (line.waiting.delete(one)) waiting--;
  }

  function nextInLine() {
    let next: { caller: Caller; line: Line; first: Waiting } | undefined;
    for (const [caller, line] of lines) {
      const [first] = line.waiting;
      if (first && (!next || line.turns < next.line.turns)) next = { caller, line, first };
    }
    return next;
  }

  /** The released turn still counts for its caller while the next one is chosen, so that others come first. */
  function giveBack(caller: Caller): void {
    const next = waiting > 0 ? nextInLine() : undefined;
    const line = lineOf(caller);
    line.turns--;
    if (next) {
      take(next.caller, next.line);
      leave(next.line, next.first);
      next.first.begin();
    } else {
      taken--;
    }
    forget(caller, line);
  }

  function forget(caller: Caller, line: Line): void {
    if (line.turns === 0 && line.waiting.size === 0) lines.delete(caller);
  }

  /** Whether this line can take one more entry, if necessary by evicting one of the longest line. */
  function hasRoom(line: Line): boolean {
    if (waiting < queue) return true;
    const [longest] = [...lines.values()].sort((a, b) => b.waiting.size - a.waiting.size);
    const newest = [...(longest?.waiting ?? [])].at(-1);
    if (!longest || !newest || longest.waiting.size <= line.waiting.size + 1) return false;
    newest.reject();
    return true;
  }

  function wait(caller: Caller, line: Line, rejected: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => one.reject(), queueTimeoutMs);
      const one: Waiting = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        reject() {
          clearTimeout(timer);
          leave(line, one);
          forget(caller, line);
          reject(rejected());
        },
      };
      line.waiting.add(one);
      waiting++;
    });
  }

  async function inTurn<Result>(caller: Caller, work: () => Promise<Result>, rejected: () => Error): Promise<Result> {
    const line = lineOf(caller);
    if (taken < concurrency) {
      taken++;
      take(caller, line);
    } else {
      if (!hasRoom(line)) {
        forget(caller, line);
        throw rejected();
      }
      await wait(caller, line, rejected);
    }
    try {
      return await work();
    } finally {
      giveBack(caller);
    }
  }

  return Object.assign(inTurn, { isIdle: () => lines.size === 0 });
}
