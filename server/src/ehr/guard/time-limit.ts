import { callScope, createCallScope } from './call-scope.ts';

/** Rejects with the error made by `late` on a time-out, and aborts the HTTP requests of the work. */
export function withinTime<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const scope = createCallScope(milliseconds);
    const timer = setTimeout(() => {
      reject(late());
      scope.abort();
    }, milliseconds);
    const ended = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    callScope.run(scope, work).then(
      (result) => ended(() => resolve(result)),
      (error) => ended(() => reject(error)),
    );
  });
}
