import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { vi } from 'vitest';
import { readTelemetry } from '../../server/src/config/environment/telemetry-variables.ts';
import { startTelemetry, type Telemetry } from '../../server/src/telemetry/start.ts';

type Attributes = Readonly<Record<string, string>>;

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: the span begins its trace here. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Attributes;
  /** Of OTLP: 2 for an error. */
  readonly status: number | undefined;
}

/** A real server that takes OTLP over HTTP, as a collector does: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly Span[];
  /** Path, type of content and body of each export. */
  readonly exports: readonly { readonly path: string; readonly type: string; readonly body: Buffer }[];
  /** Attributes of the resources, which name the service. */
  readonly resources: readonly Attributes[];
  /** Every text of every export, once: names, attributes with their values, events, and the rest. */
  texts(): string[];
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function attributesOf(pairs: readonly KeyValue[] = []): Attributes {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Span, 'attributes' | 'status'> & {
        readonly attributes: readonly KeyValue[];
        readonly status?: { readonly code?: number };
      })[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: Span[] = [];
  const resources: Attributes[] = [];
  const exports: { path: string; type: string; body: Buffer }[] = [];
  const read = ({ resourceSpans = [] }: Body) => {
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(attributesOf(resource.attributes));
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: attributesOf(span.attributes), status: span.status?.code });
      }
    }
  };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const type = request.headers['content-type'] ?? '';
    exports.push({ path: request.url ?? '', type, body });
    if (type === 'application/json') read(JSON.parse(body.toString()) as Body);
    response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    exports,
    texts: () => [...new Set(exports.flatMap(({ body }) => textsIn(JSON.parse(body.toString()))))],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Names and values, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsIn(item)]);
}

/** Turns telemetry on in this process with the standard variables, until `stop`. */
export async function exportTo(
  { url }: Pick<OtlpReceiver, 'url'>,
  variables: Readonly<Record<string, string>> = {},
): Promise<Telemetry> {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...variables };
  // The SDK reads its part from the environment.
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const mistakes: string[] = [];
  const settings = readTelemetry(all, mistakes);
  if (!settings) throw new Error(`These variables turn nothing on: ${mistakes.join(', ')}`);
  const telemetry = await startTelemetry(settings, pino({ level: 'silent' }));
  return {
    async stop() {
      await telemetry.stop();
      vi.unstubAllEnvs();
    },
  };
}
