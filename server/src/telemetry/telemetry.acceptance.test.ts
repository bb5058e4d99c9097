/** @module-tag any-database */
import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { exportTo, startOtlpReceiver } from '../../../test/requests/otlp-receiver.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';
import { createEhrHttp } from '../ehr/guard/ehr-http.ts';
import { tracing } from './tracing.ts';

const collector = await startOtlpReceiver();
// Spans are sent after a tenth of a second, so that tests need not stop the gateway to see them.
const telemetry = await exportTo(collector, {
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_SERVICE_NAME: 'booking-gateway',
});
const gateway = await startGateway({ configure: withQuickWebhooks });
const receiver = await startReceiver();
afterAll(async () => {
  await gateway.close();
  await receiver.close();
  await telemetry.stop();
  await collector.close();
});

const traceId = 'aaaabbbbccccddddeeeeffffaaaabbbb';
const parentId = 'ccccddddeeeeffff';
/** The spans of the trace whose request span has arrived: it ends last. */
async function traceOf(id: string) {
  await eventually(() => expect(ofTrace(id).filter(isRequest)).not.toEqual([]));
  return ofTrace(id);
}
const ofTrace = (id: string) => collector.spans.filter((span) => span.traceId === id);
const isRequest = ({ attributes }: { attributes: Readonly<Record<string, string>> }) => 'http.route' in attributes;
const patient = `${oslo}/patients/p-1`;

/** Traces a request, and returns the spans of the trace in its line of the log. */
async function traced(headers: Readonly<Record<string, string>>, path = patient) {
  const lines = gateway.logLines.length;
  const { status } = await gateway.request('GET', path, { headers });
  await eventually(() => expect(gateway.logLines.slice(lines).some((line) => line.includes('"trace_id"'))).toBe(true));
  const line = gateway.logLines.slice(lines).find((it) => it.includes('"trace_id"')) ?? '{}';
  const { trace_id } = JSON.parse(line) as { trace_id: string };
  return { id: trace_id, status, spans: await traceOf(trace_id) };
}

test('a request is one span, with one for each call to the EHR and each statement, in the trace of the caller', async () => {
  const { id, spans } = await traced(
    { traceparent: `00-${traceId}-${parentId}-01` },
    `${oslo}/appointments?patient_id=p-1`,
  );
  expect(id).toBe(traceId);
  const [request, ...others] = spans.filter(isRequest);
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    name: expect.stringMatching(/^GET \/api\/emrs\/:/),
    parentSpanId: parentId,
    attributes: {
      'http.request.method': 'GET',
      'http.response.status_code': '200',
      'crossward.emr': 'sandbox-no',
      'crossward.care_unit': 'oslo-sentrum',
    },
  });
  const calls = spans.filter(({ attributes }) => 'crossward.ehr_operation' in attributes);
  expect(calls.map(({ name }) => name).toSorted()).toEqual(['findPatient', 'listAppointments']);
  for (const call of calls) {
    expect(call.parentSpanId).toBe(request?.spanId);
    expect(call.attributes).toMatchObject({ 'crossward.emr': 'sandbox-no', 'crossward.outcome': 'ok' });
  }
  const statements = spans.filter(({ attributes }) => 'db.system.name' in attributes);
  expect(statements.length).toBeGreaterThan(0);
  const parents = new Set([request, ...calls].map((span) => span?.spanId));
  for (const statement of statements) expect(parents).toContain(statement.parentSpanId);
  // It shares this one with other requests.
  expect(statements.map(({ name }) => name)).toContain('INSERT audit_drafts');
});

test('the statements of a booking with a body are in its trace', async () => {
  const before = collector.spans.length;
  await book(gateway, { slot: await freeSlot(gateway) });
  const since = () => collector.spans.slice(before);
  await eventually(() => expect(since().some(({ name }) => name.startsWith('POST '))).toBe(true));
  const request = since().find(({ name }) => name.startsWith('POST '));
  const spans = ofTrace(request?.traceId ?? '');
  expect(spans.map(({ name }) => name)).toContain('changeAppointments');
  const statements = spans.filter(({ attributes }) => 'db.system.name' in attributes);
  expect(statements.map(({ name }) => name)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(INSERT|WITH)/), expect.stringMatching(/^(UPDATE|DELETE|WITH)/)]),
  );
  // Those that it shares with other requests, too.
  const shared = statements.filter(({ name }) => name === 'INSERT operations');
  expect(shared.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId]);
});

test.each([
  ['that is malformed', 'nonsense'],
  ['with zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['with a national number in the trace id', `00-aaaaaaaaaa15859000026aaaaaaaaaaa-${parentId}-01`],
  ['with a national number in the parent id', `00-${traceId}-aa15859000026aaa-01`],
  ['with a national number across both', `00-aaaaaaaaaaaaaaaaaaaaaaaaaa158590-00026aaaaaaaaaaa-01`],
])('a traceparent %s is ignored', async (_, traceparent) => {
  const { id, spans } = await traced({ traceparent });
  expect(traceparent).not.toContain(id);
  expect(spans.find(isRequest)?.parentSpanId || undefined).toBeUndefined();
});

test('the flag of the caller does not decide whether a request is traced', async () => {
  const own = traceId.replaceAll('a', '9');
  const { id } = await traced({ traceparent: `00-${own}-${parentId}-00`, tracestate: 'a=b' });
  expect(id).toBe(own);
  expect(JSON.stringify(collector.texts())).not.toContain('a=b');
});

test('a failure is an error without a message', async () => {
  const { status, spans } = await traced({}, `${oslo}/patients/p-unknown`);
  expect(status).toBe(404);
  expect(spans.find(isRequest)).toMatchObject({ attributes: { 'crossward.reason': 'patient_not_found' } });
  const failed = collector.spans.filter((span) => span.status === 2);
  for (const { attributes } of failed) expect(attributes['error.type']).toMatch(/^[\w]+$/);
});

test('an EHR gets the trace of the call, and nothing else of the caller', async () => {
  const headers: Readonly<Record<string, unknown>>[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const http = createEhrHttp({
    requestTimeoutMs: 10_000,
    connections: 1,
    retries: 0,
    maxResponseBytes: 1000,
    connectTimeoutMs: 10_000,
    allowPrivateAddresses: true,
    allowPlainText: true,
  });
  const send = () => http.send({ method: 'GET', url: `http://127.0.0.1:${port}/`, repeatable: true });
  const request = tracing?.request(`00-${traceId.replaceAll('a', '8')}-${parentId}-01`);
  const call = request?.within(() => tracing?.call('getPatient', {}));
  await call?.within(send);
  // Outside a trace.
  await send();
  await http.close();
  server.close();
  expect(headers[0]?.traceparent).toMatch(
    new RegExp(`^00-${traceId.replaceAll('a', '8')}-(?!${parentId})[0-9a-f]{16}-01$`),
  );
  expect(headers[1]?.traceparent).toBeUndefined();
});

test('a receiver of webhooks gets the trace of the attempt', async () => {
  await webhooksOf(gateway).create(receiver.url);
  await book(gateway, { slot: await freeSlot(gateway) });
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(0));
  const [, id = '', spanId = ''] = receiver.received[0]?.headers.traceparent?.split('-') ?? [];
  await eventually(() => expect(ofTrace(id)).toMatchObject([{ name: 'deliver webhook', spanId }]));
});

test('the process has the name of the standard variables', () => {
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'booking-gateway' });
  expect(collector.resources[0]?.['service.instance.id']).toMatch(/^[\w-]{36}$/);
});
