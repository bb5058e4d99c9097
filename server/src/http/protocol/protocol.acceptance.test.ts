/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type GatewayResponse, type Problem, startGateway } from '../../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo } from '../../../../test/requests/bookings.ts';
import { exchangeWith } from './test-exchange.ts';

const gateway = await startGateway({ configure: (it) => ({ ...it, identifier_headers: ['patient-number'] }) });
afterAll(() => gateway.close());
const { exchange, get } = exchangeWith(gateway);

describe('headers', () => {
  test('are limited to 32 KiB in total', async () => {
    const fits = await gateway.request('GET', '/api/emrs', { headers: { 'x-filler': 'x'.repeat(30_000) } });
    expect(fits.status).toBe(200);
    for (const filler of [`x-filler: ${'x'.repeat(40_000)}\r\n`, `x-filler: ${'x'.repeat(100)}\r\n`.repeat(400)]) {
      const response = await exchange(get('/api/emrs', filler));
      expect(response).toMatchObject({
        status: 431,
        body: { reason: 'headers_too_large', code: 'HEADERS_TOO_LARGE', status: 431 },
      });
      expect(response.head.toLowerCase()).toContain('content-type: application/problem+json');
      expect(response.head.toLowerCase()).toContain(
        `x-request-id: ${(response.body as unknown as { request_id: string }).request_id}`,
      );
    }
  });

  test.each([
    ['host', 'x'],
    ['content-type', 'application/json'],
    ['idempotency-key', randomUUID()],
  ])('must not be repeated: %s', async (name, value) => {
    const first = name === 'host' ? '' : `${name}: ${value}\r\n`;
    for (const second of [value, 'other']) {
      const response = await exchange(get('/api/emrs', `${first}${name.toUpperCase()}: ${second}\r\n`));
      expect(response).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ header: name, reason: 'request_invalid' }] },
      });
      expect(response.body.detail).toBe(`The ${name} header is sent more than once.`);
    }
  });

  test('allowed by the configuration can contain identifiers', async () => {
    const get = (header: string) =>
      gateway.request<Problem>('GET', `${oslo}/patients/header:${header}`, { headers: { [header]: 'p-3' } });
    expect((await get('Patient-Number')).status).toBe(200);
    expect((await get('x-patient')).status).toBe(200);
    expect(await get('patient')).toMatchObject({ status: 400, body: { reason: 'header_reference_forbidden' } });
  });

  test('of every response forbid caching and framing', async () => {
    for (const [method, path] of [
      ['GET', '/api/emrs'],
      ['GET', '/nothing'],
      ['DELETE', '/api/emrs'],
      ['GET', '/%'],
    ] as const) {
      const { headers } = await gateway.request(method, path);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers).not.toHaveProperty('server');
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });

  test.each(['0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '4bf92f3577b34da6a3ce929d0e0e4736'])(
    "carry the caller's request id %s",
    async (given) => {
      const found = await gateway.request('GET', '/api/emrs', { headers: { 'x-request-id': given } });
      expect(found.headers['x-request-id']).toBe(given);
      const failed = await gateway.request<{ request_id: string }>('GET', '/nothing', {
        headers: { 'x-request-id': given },
      });
      expect(failed.body.request_id).toBe(given);
    },
  );

  test.each(['', 'order-7f3a', '15859000026', 'patient-15859000026', 'a b', 'a@b.example', '{"a":1}', 'æ', 'a,b'])(
    'carry a new request id instead of "%s", which is not logged',
    async (given) => {
      const { headers } = await gateway.request('GET', '/api/emrs', { headers: { 'x-request-id': given } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      if (given.includes('15859000026')) expect(gateway.logLines.join('')).not.toContain(given);
    },
  );

  test('contain a new request id for each request', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => gateway.request('GET', '/api/emrs')));
    expect(new Set(responses.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});

describe('invalid HTTP', () => {
  test.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['two lengths', `POST ${oslo}/appointments HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx`],
    [
      'a length and chunks',
      `POST ${oslo}/appointments HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a header with a space', 'GET /api/emrs HTTP/1.1\r\nhost: x\r\nx y: z\r\n\r\n'],
    ['a header with NUL', 'GET /api/emrs HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n'],
  ])('gets a problem response: %s', async (_, text) => {
    const { status, head, body } = await exchange(text);
    expect(status).toBe(400);
    expect(head.toLowerCase()).toContain('connection: close');
    if (head.toLowerCase().includes('problem+json')) {
      expect(body).toMatchObject({ reason: 'request_invalid', code: 'BAD_REQUEST', status: 400 });
    }
  });
});

describe('bodies', () => {
  test('are ignored on GET requests', async () => {
    const response = await gateway.request('GET', '/api/emrs', { body: 'not JSON' });
    expect(response.status).toBe(200);
  });

  test('can be chunked', async () => {
    const body = JSON.stringify(creationBody(await freeSlot(gateway)));
    const chunks = [body.slice(0, 9), body.slice(9)].map((it) => `${Buffer.byteLength(it).toString(16)}\r\n${it}\r\n`);
    const head = get(`${oslo}/appointments`, 'content-type: application/json\r\ntransfer-encoding: chunked\r\n');
    const response = await exchange(`${head.replace('GET', 'POST')}${chunks.join('')}0\r\n\r\n`);
    expect(response.status).toBe(201);
  });

  test('in chunks are limited to 1 MiB', async () => {
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const head = get(`${oslo}/appointments`, 'content-type: application/json\r\ntransfer-encoding: chunked\r\n');
    const response = await exchange(`${head.replace('GET', 'POST')}${chunk.repeat(17)}0\r\n\r\n`);
    expect(response).toMatchObject({ status: 413, body: { reason: 'content_too_large' } });
  });

  test.each([
    ['', 'The body is empty.'],
    ['{\n  "patient_id": "p-3",\n}', 'The body is not valid JSON: see line 3, column 1.'],
    [Buffer.from('{"patient_id":"æ"}', 'latin1'), 'The body is not valid UTF-8.'],
    ['[]', 'The body must be an object.'],
  ])('that cannot be read are described: %j', async (body, detail) => {
    const headers = { 'content-type': 'application/json' };
    const response = await gateway.request('POST', `${oslo}/appointments`, { body, headers });
    expect(response).toMatchObject({ status: 400, body: { detail, errors: [{ pointer: '', detail }] } });
  });

  test('of another content type are rejected, with the name of the header', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect(await gateway.request('POST', `${oslo}/appointments`, { body: '{}', headers })).toMatchObject({
      status: 415,
      body: { errors: [{ header: 'content-type', reason: 'media_type_unsupported' }] },
    });
  });
});

describe('a malicious body of 1 MiB', () => {
  const mebibyte = 1024 * 1024;
  const filled = (start: string, part: string, end: string) =>
    start + part.repeat(Math.floor((mebibyte - start.length - end.length) / part.length)) + end;
  const bodies: readonly (readonly [string, string])[] = [
    ['arrays in arrays', filled('{"comment":', '[', '')],
    ['arrays in arrays, closed', `{"comment":${'['.repeat(500_000)}"header:x"${']'.repeat(500_000)}}`],
    ['objects in objects', filled('', '{"a":', '')],
    ['arrays in arrays, with strings', `{"comment":${'["",'.repeat(200_000)}1${']'.repeat(200_000)}}`],
    ['invalid ids', filled('{"ids":[', '0,', '0],"status":"cancelled"}')],
    ['empty ids', filled('{"ids":[', '"",', '""],"status":"cancelled"}')],
    ['ids that are objects', filled('{"ids":[', '{},', '{}]}')],
    ['unknown fields', `{${Array.from({ length: 90_000 }, (_, index) => `"f${index}":0`).join(',')}}`],
    ['one long text', filled('{"ids":["', 'x', '"],"comment":5}')],
    ['quotes', filled('{"comment":"', '\\"', '"}')],
    ['backslashes', filled('{"comment":"', '\\\\', '"}')],
    ['a long name', filled('{"', '\\u0061', '":1}')],
    ['a long identifier', filled('{"patient_id":"header:', 'x', '"}')],
    ['a long number', filled('{"comment":', '1', '}')],
    ['commas', filled('{"comment":[', ',', ']}')],
  ];

  test.each(bodies)('is rejected cheaply: %s', async (_, body) => {
    expect(body.length).toBeLessThanOrEqual(mebibyte);
    for (const isKept of [false, true]) {
      for (const [method, path] of [
        ['POST', `${oslo}/appointments`],
        ['PATCH', `${oslo}/appointments`],
        ['PATCH', `${oslo}/appointments/x`],
      ] as const) {
        const headers = isKept ? { 'idempotency-key': randomUUID() } : {};
        const before = process.cpuUsage();
        const response = await gateway.request<Problem>(method, path, { body, headers });
        const { user, system } = process.cpuUsage(before);
        expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
        expect(response.body.errors.length).toBeLessThanOrEqual(20);
        expect(response.text.length).toBeLessThan(16_384);
        // An algorithm that is worse than linear would take minutes. The limit is generous, and counts processor time.
        expect((user + system) / 1e6).toBeLessThan(2);
      }
    }
  });
});

describe('limits', () => {
  test('apply per client and are shown in headers', async () => {
    const limited = await startGateway({
      configure: (it) => ({ ...it, limits: { ...it.limits, requests_per_minute: 3 } }),
    });
    onTestFinished(() => limited.close());
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await limited.request('GET', '/api/emrs');
      expect(status).toBe(200);
      expect(headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': remaining });
    }
    const rejected: GatewayResponse<Problem> = await limited.request('GET', `${oslo}/patients/p-3`);
    expect(rejected).toMatchObject({ status: 429, body: { reason: 'rate_limited', retryable: true } });
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(rejected.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await limited.request('GET', '/api/emrs', { client: 'narrowed' })).status).toBe(200);
    const wrong = { id: limited.credentials('everything').id, secret: 'wrong' };
    expect((await limited.request('GET', '/api/emrs', { client: wrong })).status).toBe(401);
    for (const path of ['/health/live', '/health/ready', '/metrics', '/api/openapi.json']) {
      expect((await limited.request('GET', path)).status).toBe(200);
    }
  });
});

describe('health', () => {
  test('needs no credentials', async () => {
    expect(await gateway.request('GET', '/health/live', { client: null })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await gateway.request('GET', '/health/ready', { client: null })).toMatchObject({
      status: 200,
      body: { status: 'ok', emrs_not_open: [] },
    });
  });

  test('reports not ready without a database, and operations respond with database_unavailable', async () => {
    const broken = await startGateway();
    onTestFinished(() => broken.close());
    await broken.database.close();
    expect(await broken.request('GET', '/health/live', { client: null })).toMatchObject({ status: 200 });
    expect(await broken.request('GET', '/health/ready', { client: null })).toMatchObject({
      status: 503,
      body: { status: 'unavailable' },
    });
    const response = await broken.request<Problem>('GET', `${oslo}/appointments?patient_id=p-1`);
    expect(response).toMatchObject({ status: 503, body: { retryable: true } });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });
});
