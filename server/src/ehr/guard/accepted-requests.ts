const bucketMs = 100;
const buckets = 600;

/** Counts the requests that the EHR has accepted in the last minute. */
export class AcceptedRequests {
  readonly #counts = new Uint32Array(buckets);
  #last = 0;

  add(now: number): void {
    this.#forgetUntil(now);
    const index = this.#last % buckets;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** @param seconds at most 60 */
  within(seconds: number, now: number): number {
    this.#forgetUntil(now);
    const wanted = Math.min(buckets, Math.ceil((seconds * 1000) / bucketMs));
    let sum = 0;
    for (let back = 0; back < wanted; back++) sum += this.#counts[(this.#last - back + buckets) % buckets] ?? 0;
    return sum;
  }

  #forgetUntil(now: number): void {
    const current = Math.floor(now / bucketMs);
    const passed = Math.min(buckets, current - this.#last);
    for (let step = 1; step <= passed; step++) this.#counts[(current - passed + step) % buckets] = 0;
    if (passed > 0) this.#last = current;
  }
}
