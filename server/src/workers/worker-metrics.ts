import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { AskWorkers } from './ask-workers.ts';
import type { ProcessMetrics } from './messages.ts';

const cumulative: ReadonlySet<string> = new Set(['counter', 'histogram']);

/**
 * The sum of the metrics of all workers. Counts of workers that have ended stay in it, as of their last collection, so
 * that a counter does not fall when a worker is replaced. The last known metrics stand in for a worker that does not respond
 * in time.
 */
export class WorkerMetrics {
  readonly #own: Registry;
  readonly #latest = new Map<number, ProcessMetrics>();
  readonly #workers = new AskWorkers<ProcessMetrics>('own metrics wanted');
  #ended: Promise<ProcessMetrics> = Promise.resolve([]);

  /** @param own metrics of the primary process */
  constructor(own: Registry) {
    this.#own = own;
  }

  /** Collects from the workers and returns the sums in the text format of Prometheus. */
  async collect(workers: readonly Worker[]): Promise<string> {
    await this.#workers.ask(workers);
    const all = [...this.#latest.values(), await this.#ended, await this.#own.getMetricsAsJSON()];
    return await AggregatorRegistry.aggregate(all).metrics();
  }

  received(worker: Worker, id: number, metrics: ProcessMetrics): void {
    this.#latest.set(worker.id, metrics);
    this.#workers.received(worker, id, metrics);
  }

  ended(worker: Worker): void {
    const last = this.#latest.get(worker.id) ?? [];
    this.#latest.delete(worker.id);
    const counts = last.filter(({ type }) => cumulative.has(String(type)));
    this.#ended = this.#ended.then((before) => AggregatorRegistry.aggregate([before, counts]).getMetricsAsJSON());
  }
}
