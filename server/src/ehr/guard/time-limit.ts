import { callScope } from './call-scope.ts';

/** Rejects with what `late` makes when the work takes longer; what the work still sends over HTTP is broken off then. */
export function withinTime<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      reject(late());
      controller.abort();
    }, milliseconds);
    callScope
      .run({ signal: controller.signal, deadline: performance.now() + milliseconds }, work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
