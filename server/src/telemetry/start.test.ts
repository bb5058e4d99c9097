import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { freePort } from '../../../test/processes/free-port.ts';
import { exportTo, startOtlpReceiver } from '../../../test/requests/otlp-receiver.ts';
import { readTelemetry } from '../config/environment/telemetry-variables.ts';
import { startTelemetry } from './start.ts';
import { traceHeaders, tracing } from './tracing.ts';

test('nothing is traced unless it is turned on', () => {
  expect(tracing).toBeUndefined();
  expect(traceHeaders()).toEqual({});
});

test('the standard variables turn it on, and mistakes in them are told', () => {
  const endpoint = 'http://127.0.0.1:4318';
  const read = (variables: Readonly<Record<string, string>>) => {
    const mistakes: string[] = [];
    return { settings: readTelemetry(variables, mistakes), mistakes };
  };
  for (const off of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'x' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' },
  ]) {
    expect(read(off)).toEqual({ settings: undefined, mistakes: [] });
  }
  const on = read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).settings;
  expect(on).toMatchObject({ protocol: 'http/protobuf', ratio: 1 });
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'none' }).mistakes).toEqual([]);
  const sampled = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp', ...sampled }).settings).toMatchObject({ ratio: 0.25 });
  const wrong = {
    OTEL_TRACES_SAMPLER_ARG: '7',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_BSP_MAX_QUEUE_SIZE: '0',
  };
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp', ...wrong }).mistakes.toSorted()).toEqual([
    expect.stringMatching(/^OTEL_BSP_MAX_QUEUE_SIZE: must be/),
    expect.stringMatching(/^OTEL_EXPORTER_OTLP_PROTOCOL: must be/),
    expect.stringMatching(/^OTEL_METRICS_EXPORTER: must be none/),
    expect.stringMatching(/^OTEL_TRACES_SAMPLER_ARG: must be/),
  ]);
});

test('a sampler that takes none exports none, whatever the caller says', async () => {
  const collector = await startOtlpReceiver();
  const telemetry = await exportTo(collector, { OTEL_TRACES_SAMPLER: 'always_off' });
  const span = tracing?.request(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`);
  expect(span?.within(traceHeaders).traceparent).toMatch(/-00$/);
  span?.end('GET /', {});
  await telemetry.stop();
  await collector.close();
  expect(collector.exports).toEqual([]);
});

test('exports are protobuf by default', async () => {
  const collector = await startOtlpReceiver();
  const telemetry = await exportTo(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' });
  tracing?.request(undefined).end('GET /api/emrs', {});
  await telemetry.stop();
  await collector.close();
  expect(collector.exports).toMatchObject([{ path: '/v1/traces', type: 'application/x-protobuf' }]);
  expect(collector.exports[0]?.body.toString('latin1')).toContain('GET /api/emrs');
});

test('a collector that cannot be reached leaves a line in the log, without its address', async () => {
  const lines: string[] = [];
  const url = `http://127.0.0.1:${await freePort()}`;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${url}/kanari-token`);
  // Otherwise the exporter tries again for ten seconds.
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '100');
  const settings = readTelemetry({ OTEL_TRACES_EXPORTER: 'otlp' }, []);
  if (!settings) throw new Error('not turned on');
  const telemetry = await startTelemetry(settings, pino({}, { write: (line: string) => void lines.push(line) }));
  tracing?.request(undefined).end('GET /', {});
  await telemetry.stop();
  vi.unstubAllEnvs();
  expect(lines.join('')).toContain('attempts to export telemetry fail');
  expect(lines.join('')).not.toContain('kanari-token');
});
