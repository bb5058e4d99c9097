import type { Registry } from 'prom-client';
import type { FiguresOfWorkers, FromWorker, Ready, ToWorker } from './messages.ts';

/** The process that started this worker. When it ends, Node.js ends the worker at once. */
export interface PrimaryProcess {
  ready(ready: Ready): void;
  /** Called once, when the gateway is to stop. Until it is set, the worker exits instead. */
  onStop(stop: (signal: string) => void): void;
  /** Adds the metrics of this worker to those of all workers. */
  share(registry: Registry): void;
  /** The metrics of all workers in the text format of Prometheus. */
  allMetrics(): Promise<string>;
  /** Lets other workers know the figures of this one: plain data. */
  shareFigures(read: () => unknown): void;
  /** The figures of all workers. */
  allFigures(): Promise<FiguresOfWorkers>;
}

/** For a process that `cluster.fork` started. */
export function connectToPrimary(): PrimaryProcess {
  const metrics = requestsTo<string>('all metrics wanted');
  const figures = requestsTo<FiguresOfWorkers>('all figures wanted');
  let stop: (signal: string) => void = () => process.exit(0);
  let shared: Registry | undefined;
  let readFigures: (() => unknown) | undefined;

  async function sendMetrics(id: number): Promise<void> {
    if (shared) send({ type: 'own metrics', id, metrics: await shared.getMetricsAsJSON() });
  }

  process.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'stop':
        stop(message.signal);
        break;
      case 'own metrics wanted':
        // Without a response, the primary uses the last one.
        sendMetrics(message.id).catch(() => undefined);
        break;
      case 'all metrics':
        metrics.resolve(message.id, message.text);
        break;
      case 'own figures wanted':
        if (readFigures) send({ type: 'own figures', id: message.id, figures: readFigures() });
        break;
      case 'all figures':
        figures.resolve(message.id, message);
    }
  });
  return {
    ready: (ready) => send({ type: 'ready', ...ready }),
    onStop(next) {
      stop = next;
    },
    share(registry) {
      shared = registry;
    },
    allMetrics: metrics.send,
    shareFigures(read) {
      readFigures = read;
    },
    allFigures: figures.send,
  };
}

/** Requests to the primary process, and the promises of their responses. */
function requestsTo<Response>(type: 'all metrics wanted' | 'all figures wanted') {
  const open = new Map<number, (response: Response) => void>();
  let lastId = 0;
  return {
    send(): Promise<Response> {
      const id = ++lastId;
      return new Promise((resolve) => {
        open.set(id, resolve);
        send({ type, id });
      });
    },
    resolve(id: number, response: Response): void {
      open.get(id)?.(response);
      open.delete(id);
    },
  };
}

function send(message: FromWorker): void {
  // The primary can only be gone if this process is about to end.
  process.send?.(message, undefined, undefined, () => undefined);
}
