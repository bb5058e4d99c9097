import type { Registry } from 'prom-client';

/** The metrics of one process, as `AggregatorRegistry.aggregate` takes them. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What a worker reports when it serves requests. */
export interface Ready {
  /** `http://host:port` */
  readonly address: string;
  /** Text for people, printed after the start. Can be empty. */
  readonly welcome: string;
}

/** What all workers know, with those that did not respond in time left out. */
export interface FiguresOfWorkers {
  /** Workers that serve requests. */
  readonly workers: number;
  /** One entry for each worker: plain data that only the workers interpret. */
  readonly figures: readonly unknown[];
}

/** From a worker to the primary process. */
export type FromWorker =
  | ({ readonly type: 'ready' } & Ready)
  | { readonly type: 'all metrics wanted'; readonly id: number }
  | { readonly type: 'own metrics'; readonly id: number; readonly metrics: ProcessMetrics }
  | { readonly type: 'all figures wanted'; readonly id: number }
  | { readonly type: 'own figures'; readonly id: number; readonly figures: unknown };

/** From the primary process to a worker. */
export type ToWorker =
  | { readonly type: 'stop'; readonly signal: string }
  | { readonly type: 'own metrics wanted'; readonly id: number }
  | { readonly type: 'all metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'own figures wanted'; readonly id: number }
  | ({ readonly type: 'all figures'; readonly id: number } & FiguresOfWorkers);
