import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import { AskWorkers } from './ask-workers.ts';
import type { FromWorker, Ready, ToWorker } from './messages.ts';
import { restartPause } from './restart-pause.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** Milliseconds. A worker that served for longer is replaced without a longer pause. */
const stable = 60_000;
/** Starts that may fail in a row while no worker serves. */
const mostFailedStarts = 5;

/** A place for one worker. */
interface Slot {
  readonly number: number;
  worker?: Worker | undefined;
  /** `performance.now()`. Absent: the worker does not serve yet. */
  readyAt?: number | undefined;
  endsInARow: number;
  timer?: NodeJS.Timeout;
}

/**
 * Starts gateway processes that share the port of this process, and replaces each that ends. This process only accepts
 * connections and passes them on in turn.
 *
 * The process ends with an error if a worker ends during the start, or if later all workers have ended and none can be
 * started.
 */
export function runWorkers(count: number, log: Logger): void {
  new Workers(count, log).start();
}

class Workers {
  readonly #log: Logger;
  readonly #slots: readonly Slot[];
  readonly #registry = new Registry();
  readonly #metrics = new WorkerMetrics(this.#registry);
  readonly #figures = new AskWorkers<unknown>('own figures wanted');
  readonly #ended: Counter;
  #welcome = '';
  #isStarted = false;
  #failedStarts = 0;
  /** Set when the workers are to stop. */
  #exitCode: number | undefined;

  constructor(count: number, log: Logger) {
    this.#log = log;
    this.#slots = Array.from({ length: count }, (_, index) => ({ number: index + 1, endsInARow: 0 }));
    this.#ended = new Counter({
      name: 'crossward_workers_ended_total',
      help: 'Workers that ended and were replaced.',
      registers: [this.#registry],
    });
    const ready = () => this.#slots.filter(({ readyAt }) => readyAt !== undefined).length;
    new Gauge({
      name: 'crossward_workers_ready',
      help: 'Workers that serve requests.',
      registers: [this.#registry],
      collect() {
        this.set(ready());
      },
    });
  }

  start(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        this.#log.info({ signal }, 'stopping the workers after their current requests');
        this.#stop(signal, 0);
      });
    }
    // The first worker migrates the database and reports mistakes in the configuration. The others follow when it is ready.
    for (const slot of this.#slots.slice(0, 1)) this.#fork(slot);
  }

  #fork(slot: Slot): void {
    const worker = cluster.fork();
    slot.worker = worker;
    worker.on('message', (message: FromWorker) => this.#receive(slot, worker, message));
    // A message could not be sent, because the worker has just ended.
    worker.on('error', () => undefined);
    worker.once('exit', (code, signal) => this.#replace(slot, worker, { code, signal }));
  }

  #receive(slot: Slot, worker: Worker, message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        this.#ready(slot, worker, message);
        break;
      case 'own metrics':
        this.#metrics.received(worker, message.id, message.metrics);
        break;
      case 'all metrics wanted':
        void this.#sendMetrics(worker, message.id);
        break;
      case 'own figures':
        this.#figures.received(worker, message.id, message.figures);
        break;
      case 'all figures wanted':
        void this.#sendFigures(worker, message.id);
    }
  }

  #ready(slot: Slot, worker: Worker, { address, welcome }: Ready): void {
    slot.readyAt = performance.now();
    this.#failedStarts = 0;
    this.#log.info({ worker: slot.number, worker_pid: worker.process.pid }, 'worker is ready');
    if (this.#isStarted || this.#exitCode !== undefined) return;
    this.#welcome ||= welcome;
    for (const other of this.#slots) if (!other.worker) this.#fork(other);
    if (this.#slots.some(({ readyAt }) => readyAt === undefined)) return;
    this.#isStarted = true;
    this.#log.info({ address, workers: this.#slots.length, database: 'postgresql' }, 'Crossward is listening');
    process.stdout.write(this.#welcome);
  }

  #replace(slot: Slot, worker: Worker, how: { readonly code: number; readonly signal: string }): void {
    const { readyAt } = slot;
    slot.worker = undefined;
    slot.readyAt = undefined;
    this.#metrics.ended(worker);
    if (this.#exitCode !== undefined) {
      if (how.code !== 0) this.#exitCode = 1;
      this.#exitIfEmpty();
      return;
    }
    if (readyAt === undefined && this.#cannotStart()) {
      this.#log.fatal({ worker: slot.number, ...how }, 'workers end before they are ready');
      this.#stop('SIGTERM', 1);
      return;
    }
    this.#ended.inc();
    slot.endsInARow = readyAt !== undefined && performance.now() - readyAt > stable ? 1 : slot.endsInARow + 1;
    const pause = restartPause(slot.endsInARow);
    this.#log.error({ worker: slot.number, ...how, pause_ms: pause }, 'worker ended, will be replaced');
    slot.timer = setTimeout(() => this.#fork(slot), pause);
  }

  /** Counts a worker that ended before it was ready. */
  #cannotStart(): boolean {
    if (!this.#isStarted) return true;
    const serves = this.#slots.some(({ readyAt }) => readyAt !== undefined);
    this.#failedStarts = serves ? 0 : this.#failedStarts + 1;
    return this.#failedStarts >= mostFailedStarts;
  }

  #stop(signal: string, exitCode: number): void {
    this.#exitCode ??= exitCode;
    for (const { worker, timer } of this.#slots) {
      clearTimeout(timer);
      if (worker) send(worker, { type: 'stop', signal });
    }
    this.#exitIfEmpty();
  }

  #exitIfEmpty(): void {
    if (this.#slots.every(({ worker }) => !worker)) process.exit(this.#exitCode);
  }

  async #sendMetrics(worker: Worker, id: number): Promise<void> {
    send(worker, { type: 'all metrics', id, text: await this.#metrics.collect(this.#serving()) });
  }

  async #sendFigures(worker: Worker, id: number): Promise<void> {
    const serving = this.#serving();
    const figures = await this.#figures.ask(serving);
    send(worker, { type: 'all figures', id, workers: serving.length, figures });
  }

  #serving(): Worker[] {
    return this.#slots.flatMap((slot) => (slot.worker && slot.readyAt !== undefined ? [slot.worker] : []));
  }
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
