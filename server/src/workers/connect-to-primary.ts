import type { Registry } from 'prom-client';
import type { FromWorker, Ready, ToWorker } from './messages.ts';

/** The process that started this worker. When it ends, Node.js ends the worker at once. */
export interface PrimaryProcess {
  ready(ready: Ready): void;
  /** Called once, when the gateway is to stop. Until it is set, the worker exits instead. */
  onStop(stop: (signal: string) => void): void;
  /** Adds the metrics of this worker to those of all workers. */
  share(registry: Registry): void;
  /** The metrics of all workers in the text format of Prometheus. */
  allMetrics(): Promise<string>;
}

/** For a process that `cluster.fork` started. */
export function connectToPrimary(): PrimaryProcess {
  const requests = new Map<number, (text: string) => void>();
  let lastRequest = 0;
  let stop: (signal: string) => void = () => process.exit(0);
  let shared: Registry | undefined;

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
        requests.get(message.id)?.(message.text);
        requests.delete(message.id);
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
    allMetrics() {
      const id = ++lastRequest;
      return new Promise((resolve) => {
        requests.set(id, resolve);
        send({ type: 'all metrics wanted', id });
      });
    },
  };
}

function send(message: FromWorker): void {
  // The primary can only be gone if this process is about to end.
  process.send?.(message, undefined, undefined, () => undefined);
}
