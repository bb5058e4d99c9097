import type { OtlpProtocol, TelemetrySettings } from '../../telemetry/settings.ts';

const protocols: readonly OtlpProtocol[] = ['http/protobuf', 'http/json'];
const samplers = ['always_on', 'always_off', 'traceidratio'] as const;

/**
 * Reads the variables of OpenTelemetry that decide whether, when and how to export traces
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). The exporter reads the others. An
 * endpoint or an exporter turns it on: without them, the gateway would send to `localhost` what nobody has asked for.
 *
 * @param mistakes gets the variables with wrong values
 */
export function readTelemetry(
  variables: Readonly<Record<string, string | undefined>>,
  mistakes: string[],
): TelemetrySettings | undefined {
  const text = (name: string) => variables[name]?.trim() || undefined;
  const oneOf = <Value extends string>(name: string, values: readonly Value[]): Value | undefined => {
    const given = text(name);
    const known = values.find((value) => value === given);
    if (given !== undefined && known === undefined) mistakes.push(`${name}: must be ${values.join(' or ')}`);
    return known;
  };
  const number = (name: string, isRight: (value: number) => boolean, expected: string): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    if (isRight(Number(given))) return Number(given);
    mistakes.push(`${name}: must be ${expected}`);
    return undefined;
  };
  const positive = (name: string, expected: string) => number(name, (it) => Number.isInteger(it) && it > 0, expected);
  const milliseconds = (name: string) => positive(name, 'milliseconds, above 0');
  const spans = (name: string) => positive(name, 'a number of spans, above 0');
  if (text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const exporter = oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none']);
  if (![undefined, 'none'].includes(text('OTEL_METRICS_EXPORTER'))) {
    mistakes.push('OTEL_METRICS_EXPORTER: must be none. The collector reads /metrics, with its Prometheus receiver');
  }
  const endpoint = text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? text('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (exporter === 'none' || (exporter === undefined && endpoint === undefined)) return undefined;
  const ofAll = oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', protocols);
  const sampler = oneOf('OTEL_TRACES_SAMPLER', [
    ...samplers,
    ...samplers.map((it) => `parentbased_${it}` as const),
  ])?.replace('parentbased_', '');
  const ratio = number('OTEL_TRACES_SAMPLER_ARG', (it) => it >= 0 && it <= 1, 'a number from 0 to 1') ?? 1;
  return {
    protocol: oneOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocols) ?? ofAll ?? 'http/protobuf',
    ratio: sampler === 'always_off' ? 0 : sampler === 'traceidratio' ? ratio : 1,
    batches: {
      scheduledDelayMillis: milliseconds('OTEL_BSP_SCHEDULE_DELAY') ?? 5_000,
      exportTimeoutMillis: milliseconds('OTEL_BSP_EXPORT_TIMEOUT') ?? 30_000,
      maxQueueSize: spans('OTEL_BSP_MAX_QUEUE_SIZE') ?? 2_048,
      maxExportBatchSize: spans('OTEL_BSP_MAX_EXPORT_BATCH_SIZE') ?? 512,
    },
  };
}
