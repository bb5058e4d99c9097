import { callScope } from './call-scope.ts';

/** Rejects with the error made by `late` on a time-out, and aborts the HTTP requests of the work. */
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
