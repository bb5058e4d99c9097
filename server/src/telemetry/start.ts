import { randomUUID } from 'node:crypto';
import type { ExportResult } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { createAttemptLog } from '../log/attempt-log.ts';
import { describeError } from '../log/describe-error.ts';
import { createSpanExporter } from './exporters.ts';
import { ownSampler } from './own-sampler.ts';
import type { TelemetrySettings } from './settings.ts';
import { createTracing } from './spans.ts';
import { traceWith } from './tracing.ts';

export interface Telemetry {
  /** Exports what is left, for five seconds at most. */
  stop(): Promise<void>;
}

/** Milliseconds. A gateway that stops does not wait longer for a collector that is away. */
const longestStop = 5_000;

/** Turns tracing on, and exports by OTLP. A collector that is away costs no request: spans are dropped when the queue is full. */
export async function startTelemetry(settings: TelemetrySettings, log: Logger): Promise<Telemetry> {
  // The process gets an id, because several gateways and workers are one service.
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'crossward', 'service.version': packageJson.version }))
    .merge(resourceFromAttributes({ 'service.instance.id': randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
  const attempts = createAttemptLog<'traces'>(log, {
    subject: 'signal',
    failing: 'attempts to export telemetry fail',
    again: 'telemetry is exported again',
  });
  const exporter = await createSpanExporter(settings.protocol);
  const send = exporter.export.bind(exporter);
  exporter.export = (spans: Parameters<SpanExporter['export']>[0], done: (result: ExportResult) => void) =>
    send(spans, (result) => {
      if (result.code === 0) attempts.succeeded('traces');
      else attempts.failed('traces', { cause: describeError(result.error) });
      done(result);
    });
  const provider = new TracerProvider({
    resource,
    sampler: ownSampler(settings.ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...settings.batches })],
  });
  traceWith(createTracing(provider.getTracer('crossward', packageJson.version)));
  return {
    async stop() {
      traceWith(undefined);
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, longestStop);
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise]);
      clearTimeout(timer);
      attempts.stop();
    },
  };
}
