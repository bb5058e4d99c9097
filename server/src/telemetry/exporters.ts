import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { OtlpProtocol } from './settings.ts';

export async function createSpanExporter(protocol: OtlpProtocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}
