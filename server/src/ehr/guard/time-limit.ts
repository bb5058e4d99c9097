import { type CallScope, callScope } from './call-scope.ts';

/**
 * Rejects with the error made by `late` on a time-out, and aborts the HTTP requests of the work.
 *
 * @param milliseconds time-out. It starts again when the work reports progress.
 * @param longest time-out of the whole work, in milliseconds, whatever progress it makes
 */
export function withinTime<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
  longest = milliseconds,
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    /** Created at its first use: a connector without HTTP requests, such as the sandbox, never uses it. */
    let controller: AbortController | undefined;
    const end = performance.now() + longest;
    let deadline = performance.now() + milliseconds;
    let isOver = false;
    let isLate = false;
    let timer = setTimeout(timeOut, milliseconds);

    function timeOut(): void {
      isOver = true;
      isLate = true;
      reject(late());
      controller?.abort();
    }
    function progress(): void {
      if (isOver) return;
      deadline = Math.min(end, performance.now() + milliseconds);
      clearTimeout(timer);
      timer = setTimeout(timeOut, Math.max(0, deadline - performance.now()));
    }
    function ended(): void {
      isOver = true;
      clearTimeout(timer);
    }

    const scope: CallScope = {
      get signal() {
        controller ??= new AbortController();
        if (isLate) controller.abort();
        return controller.signal;
      },
      deadline: () => deadline,
      progress,
    };
    callScope.run(scope, work).then(
      (result) => {
        ended();
        resolve(result);
      },
      (error) => {
        ended();
        reject(error);
      },
    );
  });
}
