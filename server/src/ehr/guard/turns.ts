import type { Caller } from './caller.ts';

interface TurnSettings {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** Takes work in its turn, so much at once. Work that `refused` was made for has not begun and never will. */
export type Turns = <Result>(caller: Caller, work: () => Promise<Result>, refused: () => Error) => Promise<Result>;

interface Waiting {
  begin(): void;
  refuse(): void;
}

/** Of one caller. */
interface Line {
  turns: number;
  /** First come, first served. */
  readonly waiting: Set<Waiting>;
}

/**
 * Turns that callers share. A turn that comes free goes to the waiting caller who has the fewest, of those to the one
 * who got none for the longest. In a full queue, the newest of the longest line makes room for whoever has a shorter one.
 * So a caller who keeps everything full delays the others by one turn.
 *
 * A crowd is let wait by time rather than by number: a quick EHR serves hundreds who come at once within the time, and
 * behind a slow one nobody waits longer than that.
 */
export function createTurns({ concurrency, queue, queueTimeoutMs }: TurnSettings): Turns {
  /** Callers who have a turn or wait for one. The one who was served last is last. */
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

  /** Whoever gives a turn back still counts as having it, so that another one comes first. */
  function giveBack(caller: Caller): void {
    const next = nextInLine();
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

  /** Whether there is room for one more in this line, which another one may have to make. */
  function hasRoom(line: Line): boolean {
    if (waiting < queue) return true;
    const [longest] = [...lines.values()].sort((a, b) => b.waiting.size - a.waiting.size);
    const newest = [...(longest?.waiting ?? [])].at(-1);
    if (!longest || !newest || longest.waiting.size <= line.waiting.size + 1) return false;
    newest.refuse();
    return true;
  }

  function wait(caller: Caller, line: Line, refused: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => one.refuse(), queueTimeoutMs);
      const one: Waiting = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        refuse() {
          clearTimeout(timer);
          leave(line, one);
          forget(caller, line);
          reject(refused());
        },
      };
      line.waiting.add(one);
      waiting++;
    });
  }

  return async (caller, work, refused) => {
    const line = lineOf(caller);
    if (taken < concurrency) {
      taken++;
      take(caller, line);
    } else {
      if (!hasRoom(line)) {
        forget(caller, line);
        throw refused();
      }
      await wait(caller, line, refused);
    }
    try {
      return await work();
    } finally {
      giveBack(caller);
    }
  };
}
