import { randomUUID } from 'node:crypto';
import type { ExportResult } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { createAttemptLog } from '../log/attempt-log.ts';
import { describeError } from '../log/describe-error.ts';
import { createMetricExporter, createSpanExporter } from './exporters.ts';
import { ownSampler } from './own-sampler.ts';
import { prometheusProducer } from './prometheus-producer.ts';
import type { TelemetrySettings } from './settings.ts';
import { createTracing } from './spans.ts';
import { traceWith } from './tracing.ts';

export interface Telemetry {
  /** Exports these metrics from now on. */
  exportMetrics(registry: Registry): Promise<void>;
  /** Exports what is left, for five seconds at most. */
  stop(): Promise<void>;
}

/** Milliseconds. A gateway that stops does not wait longer for a collector that is away. */
const longestStop = 5_000;

type Signal = 'traces' | 'metrics';

/** Turns tracing on, and exports by OTLP. A collector that is away costs no request: spans are dropped when the queue is full. */
export async function startTelemetry(settings: TelemetrySettings, log: Logger): Promise<Telemetry> {
  // The process gets an id, because several gateways and workers have the same metrics.
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'crossward', 'service.version': packageJson.version }))
    .merge(resourceFromAttributes({ 'service.instance.id': randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
  const attempts = createAttemptLog<Signal>(log, {
    subject: 'signal',
    failing: 'attempts to export telemetry fail',
    again: 'telemetry is exported again',
  });
  const watched = <Exporter extends SpanExporter | PushMetricExporter>(
    signal: Signal,
    exporter: Exporter,
  ): Exporter => {
    const send = exporter.export.bind(exporter) as (items: unknown, done: (result: ExportResult) => void) => void;
    exporter.export = (items: unknown, done: (result: ExportResult) => void) =>
      send(items, (result) => {
        if (result.code === 0) attempts.succeeded(signal);
        else attempts.failed(signal, { cause: describeError(result.error) });
        done(result);
      });
    return exporter;
  };
  const stops: (() => Promise<void>)[] = [];
  if (settings.traces) {
    const exporter = watched('traces', await createSpanExporter(settings.tracesProtocol));
    const provider = new TracerProvider({
      resource,
      sampler: ownSampler(settings.ratio),
      spanProcessors: [new BatchSpanProcessor({ exporter, ...settings.batches })],
    });
    traceWith(createTracing(provider.getTracer('crossward', packageJson.version)));
    stops.push(() => provider.shutdown());
  }
  return {
    async exportMetrics(registry) {
      if (!settings.metrics) return;
      const exporter = watched('metrics', await createMetricExporter(settings.metricsProtocol));
      const reader = new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: settings.metricIntervalMs,
        exportTimeoutMillis: Math.min(settings.metricTimeoutMs, settings.metricIntervalMs),
        metricProducers: [prometheusProducer(registry)],
      });
      const provider = new MeterProvider({ resource, readers: [reader] });
      stops.push(() => provider.shutdown());
    },
    async stop() {
      traceWith(undefined);
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, longestStop);
      await Promise.race([Promise.allSettled(stops.map((stop) => stop())), late.promise]);
      clearTimeout(timer);
      attempts.stop();
    },
  };
}
