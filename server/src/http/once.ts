/** Returns a function that computes a result when it is first called, and returns the same result from then on. */
export function once<Result>(compute: () => Result): () => Result {
  let result: Result | undefined;
  return () => {
    result ??= compute();
    return result;
  };
}
