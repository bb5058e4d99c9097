import { type CallFacts, callScope, lazyAbort, newFacts } from './call-scope.ts';

/**
 * Rejects with the error made by `late` on a time-out, and aborts the HTTP requests of the work.
 *
 * @param milliseconds time-out. It starts again when the work reports progress.
 * @param longest time-out of the whole work, in milliseconds, whatever progress it makes
 * @param facts filled while the work runs
 */
export function withinCallTime<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
  longest = milliseconds,
  facts: CallFacts = newFacts(),
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const { signal, abort } = lazyAbort();
    const begun = performance.now();
    const end = begun + longest;
    let deadline = begun + milliseconds;
    let isOver = false;
    let timer = setTimeout(timeOut, milliseconds);
    const leaving = new Set<() => void>();

    function onFailure(leave: () => void): () => void {
      leaving.add(leave);
      return () => void leaving.delete(leave);
    }
    function fail(error: unknown): void {
      facts.hasFailed = true;
      reject(error);
      for (const leave of leaving) leave();
    }
    function timeOut(): void {
      isOver = true;
      fail(late());
      abort();
    }
    function progress(): void {
      if (isOver) return;
      deadline = Math.min(end, performance.now() + milliseconds);
      clearTimeout(timer);
      timer = setTimeout(timeOut, Math.max(0, deadline - performance.now()));
    }
    function ended(settle: () => void): void {
      isOver = true;
      clearTimeout(timer);
      settle();
    }

    callScope.run({ signal, begun, deadline: () => deadline, facts, progress, onFailure }, work).then(
      (result) => ended(() => resolve(result)),
      (error) => ended(() => fail(error)),
    );
  });
}
