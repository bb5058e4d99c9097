import type { Worker } from 'node:cluster';
import type { ToWorker } from './messages.ts';

/** Milliseconds that a worker has to respond in. */
const patience = 2_000;

type Question = Extract<ToWorker, { readonly type: `own ${string}` }>['type'];

/** Asks each worker for data, such as its metrics. */
export class AskWorkers<Known> {
  readonly #question: Question;
  readonly #awaited = new Map<string, (known?: Known) => void>();
  #lastId = 0;

  constructor(question: Question) {
    this.#question = question;
  }

  /** Returns the data of the workers that respond in time. */
  async ask(workers: readonly Worker[]): Promise<readonly Known[]> {
    const id = ++this.#lastId;
    const responses = await Promise.all(workers.map((worker) => this.#askOne(worker, id)));
    return responses.filter((response) => response !== undefined);
  }

  #askOne(worker: Worker, id: number): Promise<Known | undefined> {
    return new Promise((resolve) => {
      const key = `${worker.id} ${id}`;
      const timer = setTimeout(() => this.#settle(key), patience);
      this.#awaited.set(key, (known) => {
        clearTimeout(timer);
        resolve(known);
      });
      worker.send({ type: this.#question, id }, (error) => {
        if (error) this.#settle(key);
      });
    });
  }

  /** Takes the response of a worker. */
  received(worker: Worker, id: number, known: Known): void {
    this.#settle(`${worker.id} ${id}`, known);
  }

  #settle(key: string, known?: Known): void {
    this.#awaited.get(key)?.(known);
    this.#awaited.delete(key);
  }
}
