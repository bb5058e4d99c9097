import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { ProcessMetrics, ToWorker } from './messages.ts';

/** Milliseconds. The last known metrics stand in for a worker that does not respond in time. */
const patience = 2_000;
const cumulative: ReadonlySet<string> = new Set(['counter', 'histogram']);

/**
 * The sum of the metrics of all workers. Counts of workers that have ended stay in it, as of their last collection, so
 * that a counter does not fall when a worker is replaced.
 */
export class WorkerMetrics {
  readonly #own: Registry;
  readonly #latest = new Map<number, ProcessMetrics>();
  readonly #awaited = new Map<string, () => void>();
  #ended: Promise<ProcessMetrics> = Promise.resolve([]);
  #lastId = 0;

  /** @param own metrics of the primary process */
  constructor(own: Registry) {
    this.#own = own;
  }

  /** Collects from the workers and returns the sums in the text format of Prometheus. */
  async collect(workers: readonly Worker[]): Promise<string> {
    const id = ++this.#lastId;
    await Promise.all(workers.map((worker) => this.#ask(worker, id)));
    const all = [...this.#latest.values(), await this.#ended, await this.#own.getMetricsAsJSON()];
    return await AggregatorRegistry.aggregate(all).metrics();
  }

  #ask(worker: Worker, id: number): Promise<void> {
    return new Promise((resolve) => {
      const key = `${worker.id} ${id}`;
      const timer = setTimeout(() => this.#settle(key), patience);
      this.#awaited.set(key, () => {
        clearTimeout(timer);
        resolve();
      });
      const request: ToWorker = { type: 'own metrics wanted', id };
      worker.send(request, (error) => {
        if (error) this.#settle(key);
      });
    });
  }

  received(worker: Worker, id: number, metrics: ProcessMetrics): void {
    this.#latest.set(worker.id, metrics);
    this.#settle(`${worker.id} ${id}`);
  }

  ended(worker: Worker): void {
    const last = this.#latest.get(worker.id) ?? [];
    this.#latest.delete(worker.id);
    const counts = last.filter(({ type }) => cumulative.has(String(type)));
    this.#ended = this.#ended.then((before) => AggregatorRegistry.aggregate([before, counts]).getMetricsAsJSON());
  }

  #settle(key: string): void {
    this.#awaited.get(key)?.();
    this.#awaited.delete(key);
  }
}
