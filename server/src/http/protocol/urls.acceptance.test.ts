/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../../test/gateway/gateway.ts';
import { book, oslo } from '../../../../test/requests/bookings.ts';
import { exchangeWith } from './test-exchange.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const { exchange, get } = exchangeWith(gateway);

describe('routes', () => {
  test.each([
    '/api',
    '/api/',
    '/api/nothing',
    '/API/emrs',
    '/favicon.ico',
    `${oslo}/`,
    '/api//emrs',
    '/api/emrs/sandbox-no/care-units/oslo-sentrum/people',
    '/problems/nothing',
    '/problems/__proto__',
    '/..%2f',
    '/%00',
  ])('an unknown path gets 404: %s', async (path) => {
    for (const client of ['everything', null] as const) {
      const response = await gateway.request<Problem>('GET', path, { client });
      expect(response).toMatchObject({ status: 404, body: { reason: 'route_not_found', errors: [] } });
    }
  });

  test.each([
    '/api/emrs/',
    `${oslo}/appointments/`,
    `${oslo}/patients/`,
    '/api/emrs//care-units',
    '/api/emrs/sandbox-no/care-units//timeslots',
  ])('a path with an empty id gets 404: %s', async (path) => {
    expect(await gateway.request('GET', path)).toMatchObject({ status: expect.toBeOneOf([400, 404]) });
  });

  test.each([
    ['DELETE', `${oslo}/appointments/x`, 'GET, HEAD, PATCH'],
    ['PUT', `${oslo}/appointments/x`, 'GET, HEAD, PATCH'],
    ['POST', `${oslo}/appointments/x`, 'GET, HEAD, PATCH'],
    ['PUT', `${oslo}/appointments`, 'GET, HEAD, PATCH, POST'],
    ['POST', `${oslo}/timeslots`, 'GET, HEAD'],
    ['PATCH', `${oslo}/patients/p-1`, 'GET, HEAD'],
    ['POST', '/api/emrs', 'GET, HEAD'],
    ['OPTIONS', '/api/emrs', 'GET, HEAD'],
    ['TRACE', '/api/emrs', 'GET, HEAD'],
    ['PROPFIND', '/api/emrs/sandbox-no', 'GET, HEAD'],
    ['QUERY', '/api/emrs', 'GET, HEAD'],
    ['DELETE', '/api/openapi.json', 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
  ])('%s on %s gets 405 with Allow', async (method, path, allow) => {
    const response = await gateway.request<Problem>(method, path);
    expect(response).toMatchObject({ status: 405, body: { reason: 'method_not_allowed' }, headers: { allow } });
  });

  test.each(['DELETE', 'PROPFIND', 'QUERY', 'TRACE'])('%s on a path of nothing gets 404', async (method) => {
    const response = await gateway.request<Problem>(method, '/nowhere');
    expect(response).toMatchObject({ status: 404, body: { reason: 'route_not_found' } });
  });

  test('reject unknown methods', async () => {
    expect(await exchange(get('/api/emrs').replace('GET', 'BREW'))).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid' },
    });
  });

  test('respond to HEAD as to GET, without a body', async () => {
    const { id: appointment } = await book(gateway);
    for (const path of [
      '/api/emrs',
      `${oslo}/patients/p-3`,
      `${oslo}/appointments/${appointment}`,
      '/health/ready',
      '/api/openapi.json',
    ]) {
      const [head, whole] = await Promise.all([gateway.request('HEAD', path), gateway.request('GET', path)]);
      expect(head.status).toBe(200);
      expect(head.text).toBe('');
      expect(head.headers['content-type']).toBe(whole.headers['content-type']);
      expect(head.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)));
    }
    expect((await gateway.request('HEAD', `${oslo}/patients/nobody`)).status).toBe(404);
    expect((await gateway.request('HEAD', '/api/emrs', { client: null })).status).toBe(401);
    expect((await gateway.request('HEAD', '/api/emrs/sandbox-no', { client: 'narrowed' })).status).toBe(200);
    expect((await gateway.request('HEAD', '/api/emrs/sandbox-uk', { client: 'narrowed' })).status).toBe(404);
  });
});

describe('URLs', () => {
  test.each([
    `${oslo}/patients/%`,
    `${oslo}/patients/%zz`,
    `${oslo}/patients/%ff`,
    `${oslo}/patients/%c0%80`,
    `${oslo}/patients/%ed%a0%80`,
    '/api/emrs/%e4',
    '/%',
  ])('must be percent-encoded UTF-8: not %s', async (path) => {
    const response = await gateway.request<Problem>('GET', path);
    expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    expect(response.text).not.toContain('%');
  });

  test.each([
    'patient_id=%',
    'patient_id=%zz',
    'patient_id=%ff',
    '%ff=1',
    '&&&=&',
    'patient_id',
    'patient_id[]=p-1',
    'patient_id[a]=p-1',
    '__proto__=x',
    'constructor=x',
    'a=1&a=2&__proto__[x]=1',
  ])('must have a valid query: not %s', async (query) => {
    const response = await gateway.request<Problem>('GET', `${oslo}/appointments?${query}`);
    expect(response.status).toBe(400);
  });

  test.each(['patient_id=%', 'patient_id=%zz', 'patient_id=p-1&limit=%ff', 'patient_id=%c3', '%ff=1', 'a=%ed%a0%80'])(
    'must have a query of percent-encoded UTF-8: not %s',
    async (query) => {
      expect(await gateway.request('GET', `${oslo}/appointments?${query}`)).toMatchObject({
        status: 400,
        body: { detail: 'The query is not valid percent-encoded UTF-8.' },
      });
    },
  );

  test('must be ASCII', async () => {
    for (const path of [`${oslo}/patients/å`, `${oslo}/appointments?patient_id=å`, '/api/emrs?å']) {
      for (const bytes of ['utf8', 'latin1'] as const) {
        expect(await exchange(Buffer.from(get(path), bytes))).toMatchObject({
          status: 400,
          body: { reason: 'request_invalid' },
        });
      }
    }
  });

  test('have at most 8000 characters', async () => {
    const ofLength = (length: number) => {
      const start = `${oslo}/appointments?patient_id=`;
      return start + 'x'.repeat(length - start.length);
    };
    expect(await gateway.request('GET', ofLength(8000))).toMatchObject({
      status: 400,
      body: { reason: 'identifier_malformed' },
    });
    for (const length of [8001, 20_000]) {
      for (const client of ['everything', null] as const) {
        expect(await gateway.request('GET', ofLength(length), { client })).toMatchObject({
          status: 414,
          body: { reason: 'uri_too_long' },
        });
      }
    }
    expect(await gateway.request('GET', `/${'x'.repeat(9000)}`)).toMatchObject({ status: 414 });
    expect(await exchange(get(ofLength(60_000)))).toMatchObject({
      status: 414,
      body: { reason: 'uri_too_long', code: 'URI_TOO_LONG' },
    });
  });

  test('can contain an identifier of 200 characters in any script', async () => {
    const long = encodeURIComponent('😀'.repeat(200));
    expect(await gateway.request('GET', `${oslo}/patients/${long}`)).toMatchObject({
      status: 404,
      body: { reason: 'patient_not_found' },
    });
    const longer = encodeURIComponent('😀'.repeat(201));
    const response = await gateway.request<Problem>('GET', `${oslo}/patients/${longer}`);
    expect(response.status === 414 || response.body.reason === 'identifier_malformed').toBe(true);
  });
});

describe('a path whose first part is written with percent signs', () => {
  test.each([
    '/%63onsole',
    '/%6detrics',
    '/%6Detrics',
    '/metric%73',
    '/h%65alth/ready',
    '/%61pi/emrs',
    '/%2e/metrics',
    '/%2Fmetrics',
    '/%25',
    'http://x/%6detrics',
    'http://x/%63onsole/assets/x',
  ])('reaches nothing, past no proxy that compares prefixes: %s', async (path) => {
    expect(await exchange(get(path))).toMatchObject({ status: 404, body: { reason: 'route_not_found' } });
  });

  test('further parts are decoded', async () => {
    expect((await exchange(get('/api/emrs/sandbox%2Dno'))).status).toBe(200);
  });
});

test.each(['a b', 'a/b', 'a@b', 'a\\b', '<x>', 'a:b', 'a,\tb', '[::1', '"x"'])(
  'a host that is none is 400: %s',
  async (host) => {
    const { status, body } = await exchange(get('/api/emrs').replace('host: x', `host: ${host}`));
    expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'request_invalid' });
  },
);

test.each(['x', 'x:8080', 'a-b.example.org', '127.0.0.1:80', '[::1]:8080', '[2001:db8::1]', 'xn--bcher-kva.example'])(
  'a host with or without a port is taken: %s',
  async (host) => {
    expect((await exchange(get('/api/emrs').replace('host: x', `host: ${host}`))).status).toBe(200);
  },
);
