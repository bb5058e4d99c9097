import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { inspect } from 'node:util';
import { ConnectorError, type EhrRequest } from '@crossward/connector-kit';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../../test/processes/free-port.ts';
import { selfSigned } from '../../../../test/tls/certificates.ts';
import { trusting } from '../../config/environment/certificates.ts';
import { mayConnectTo } from './addresses.ts';
import { callScope, newFacts, withinCallTime } from './call-scope.ts';
import { createEhrHttp, type EhrHttpSettings } from './ehr-http.ts';
import { serve, serveSocket, serveTls } from './test-servers.ts';
import { timersOf } from './test-timers.ts';

const secret = 'number-01017012345';

function connect(settings: Partial<EhrHttpSettings> = {}) {
  const http = createEhrHttp({
    connectTimeoutMs: 20_000,
    requestTimeoutMs: 20_000,
    connections: 5,
    retries: 2,
    maxResponseBytes: 1024,
    allowPrivateAddresses: true,
    allowPlainText: false,
    ...settings,
  });
  onTestFinished(() => http.close());
  return http;
}

const read = (url: string): EhrRequest => ({ method: 'GET', url: `${url}/Patient?q=${secret}`, repeatable: true });
const search = (url: string): EhrRequest => ({ method: 'POST', url: `${url}/_search`, body: secret, repeatable: true });
const write = (url: string): EhrRequest => ({
  method: 'POST',
  url: `${url}/Appointment?q=${secret}`,
  headers: { authorization: secret },
  body: secret,
  repeatable: false,
});

async function errorOf(promise: Promise<unknown>): Promise<ConnectorError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectorError)) throw new Error('expected a ConnectorError', { cause: error });
  expect(inspect(error, { depth: 10 })).not.toContain(secret);
  return error;
}

const ok = (_request: IncomingMessage, response: ServerResponse) => void response.end('fine');
const hang = () => undefined;
const cut = (request: IncomingMessage) => void request.socket.destroy();
const cutHalfWay = (request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('half', () => request.socket.destroy());
};

afterEach(() => void vi.restoreAllMocks());
/** Retries are immediate. */
const withoutPause = () => vi.spyOn(Math, 'random').mockReturnValue(0);

describe('a response', () => {
  test('has a status, headers with lower-case names and text', async () => {
    const server = await serve(async (request, response) => {
      response.writeHead(request.method === 'POST' ? 201 : 404, { ETag: 'W/"1"', 'X-Many': ['a', 'b'] });
      response.end(`${request.headers['content-type']} ${Buffer.concat(await request.toArray())} blåbær`);
    });
    const http = connect();
    const headers = { 'content-type': 'text/plain' };
    const answer = await http.send({ method: 'POST', url: server.url, headers, body: 'æ', repeatable: false });
    expect(answer).toMatchObject({ status: 201, headers: { etag: 'W/"1"', 'x-many': 'a, b' } });
    expect(answer.text).toBe('text/plain æ blåbær');
    expect((await http.send(read(server.url))).status).toBe(404);
  });

  test('leaves the connection open for the next request', async () => {
    const server = await serve(ok);
    const http = connect();
    for (let count = 0; count < 20; count++) await http.send(read(server.url));
    // A second connection may be opened while the first one is cleaned up.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test.each([301, 302, 307, 308])('with status %i is not followed', async (status) => {
    const elsewhere = await serve(ok);
    const server = await serve((_request, response) => response.writeHead(status, { location: elsewhere.url }).end());
    expect(await connect().send(read(server.url))).toMatchObject({ status, headers: { location: elsewhere.url } });
    expect(elsewhere.connections()).toBe(0);
  });

  test.each([400, 401, 404, 409, 412, 422, 500, 501])('with status %i is returned', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end('why'));
    expect(await connect().send(write(server.url))).toMatchObject({ status, text: 'why' });
    expect(server.requests).toHaveLength(1);
  });

  test('after an interim response is the final one', async () => {
    const server = await serve((_request, response) =>
      response.writeEarlyHints({ link: '<x>' }, () => response.end('x')),
    );
    expect(await connect().send(read(server.url))).toMatchObject({ status: 200, text: 'x' });
  });

  test('over the limit is not read further', async () => {
    const server = await serve((_request, response) => {
      const send = () => void (response.writable && response.write('x'.repeat(1000), () => setImmediate(send)));
      send();
    });
    const http = connect();
    expect((await errorOf(http.send(read(server.url)))).kind).toBe('rejected');
    expect((await errorOf(http.send(write(server.url)))).kind).toBe('outcome_unknown');
    expect(server.requests).toHaveLength(2);
    await expect.poll(server.open).toBe(0);
  });

  test('of exactly the limit is read', async () => {
    const server = await serve((_request, response) => void response.end('x'.repeat(1024)));
    expect((await connect().send(read(server.url))).text).toHaveLength(1024);
  });
});

describe('a URL', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
    'like %s is rejected unless the connection allows it',
    async (host) => {
      const server = await serve(ok);
      const url = `http://${host}:${server.port}`;
      for (const request of [read(url), write(url)]) {
        const error = await errorOf(connect({ allowPrivateAddresses: false }).send(request));
        expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'EHR_ADDRESS_REJECTED' } });
        expect(error).toMatchObject({ message: expect.stringContaining('allow_private_addresses') });
      }
      expect(server.connections()).toBe(0);
    },
  );

  test.each(['127.0.0.1', 'localhost'])('with %s works if the connection allows private addresses', async (host) => {
    const server = await serve(ok);
    expect((await connect().send(read(`http://${host}:${server.port}`))).text).toBe('fine');
  });

  test('of another machine without TLS is rejected unless the connection allows plain text', async () => {
    const elsewhere = 'http://10.1.2.3';
    for (const request of [read(elsewhere), write(elsewhere)]) {
      const error = await errorOf(connect().send(request));
      expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'EHR_ADDRESS_REJECTED' } });
      expect(error).toMatchObject({ message: expect.stringContaining('allow_plain_text') });
    }
  });

  /** An address of this machine that other machines can reach. */
  const own = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ address, internal }) => !internal && mayConnectTo(address, true));

  // A machine with loopback alone has no address that other machines can reach.
  test.skipIf(!own)('of another machine is tried with TLS, or if the connection allows plain text', async () => {
    const host = own?.family === 'IPv6' ? `[${own.address}]` : own?.address;
    const closed = `${host}:${await freePort()}`;
    for (const [url, allowPlainText] of [
      [`http://${closed}`, true],
      [`https://${closed}`, false],
    ] as const) {
      const error = await errorOf(connect({ allowPlainText, retries: 0 }).send(read(url)));
      expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'ECONNREFUSED' } });
    }
  });

  test('of a cloud metadata service is always rejected', async () => {
    const error = await errorOf(connect().send(read('http://169.254.169.254')));
    expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'EHR_ADDRESS_REJECTED' } });
  });

  test.each(['/Patient', 'ftp://example.org/', `https://user:${secret}@example.org/`, `http://${secret} x/`])(
    'that HTTP cannot use is a bug of the connector: %s',
    async (url) => {
      const error = await connect()
        .send({ method: 'GET', url, repeatable: true })
        .catch((reason: unknown) => reason);
      expect(error).not.toBeInstanceOf(ConnectorError);
      expect(error).toBeInstanceOf(Error);
      expect(inspect(error)).not.toContain(secret);
    },
  );
});

describe('TLS', () => {
  test('is verified', async () => {
    const server = await serveTls(selfSigned(), ok);
    for (const request of [read(server.url), write(server.url)]) {
      const error = await errorOf(connect({ retries: 0 }).send(request));
      expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    }
    expect(server.requests).toEqual([]);
  });

  test('is verified whatever the environment variables say', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await serveTls(selfSigned(), ok);
    expect((await errorOf(connect({ retries: 0 }).send(read(server.url)))).kind).toBe('unavailable');
  });

  test('trusts the configured authority for the names in the certificate', async () => {
    const tls = selfSigned();
    const server = await serveTls(tls, ok);
    const http = connect({ tls: { refresh: async () => trusting(tls.cert) }, retries: 0 });
    expect((await http.send(read(server.url))).text).toBe('fine');
    const error = await errorOf(http.send(read(`https://localhost:${server.port}`)));
    expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
    expect(server.requests).toHaveLength(1);
  });
});

describe('time-outs', () => {
  test('while connecting means that nothing was done', async () => {
    const silent = await serveSocket(hang);
    const url = silent.url.replace('http:', 'https:');
    for (const request of [read(url), write(url)]) {
      const error = await errorOf(connect({ connectTimeoutMs: 50, retries: 1 }).send(request));
      expect(error).toMatchObject({ kind: 'unavailable', cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } });
    }
    await expect.poll(silent.connections).toBe(4);
  });

  test('while reading the response', async () => {
    withoutPause();
    const half = (_request: IncomingMessage, response: ServerResponse) => void response.write('half');
    const requestTimeoutMs = 54_321;
    const timers = timersOf(requestTimeoutMs);
    for (const answer of [hang, half]) {
      const server = await serve(answer);
      const http = connect({ requestTimeoutMs });
      let seen = 0;
      /** Ends the time of each request once the server has received it. */
      const errorAfter = async (count: number, request: EhrRequest) => {
        const error = errorOf(http.send(request));
        for (let sent = 0; sent < count; sent++) {
          seen++;
          await expect.poll(() => server.requests).toHaveLength(seen);
          timers.end();
        }
        return error;
      };
      expect((await errorAfter(3, read(server.url))).kind).toBe('timeout');
      expect((await errorAfter(3, search(server.url))).kind).toBe('timeout');
      expect((await errorAfter(1, write(server.url))).kind).toBe('outcome_unknown');
      expect(server.requests).toHaveLength(7);
      await expect.poll(server.open).toBe(0);
    }
  });

  test('while waiting for a connection means that nothing was done', async () => {
    const server = await serve(hang);
    const http = connect({ connections: 1, requestTimeoutMs: 60_000, retries: 0 });
    const holder = errorOf(http.send(write(server.url)));
    await expect.poll(() => server.requests).toHaveLength(1);
    const queued: unknown[] = [];
    const call = async () => void queued.push(await errorOf(http.send(write(server.url))));
    await expect(withinCallTime(100, call, () => new Error('late'))).rejects.toThrow('late');
    await expect.poll(() => queued).toMatchObject([{ kind: 'unavailable' }]);
    await http.close();
    expect((await holder).kind).toBe('outcome_unknown');
    expect(server.requests).toHaveLength(1);
  });

  test('of the call abort its requests and reject further ones', async () => {
    const server = await serve(hang);
    const http = connect({ requestTimeoutMs: 30_000 });
    const inside: unknown[] = [];
    const call = async () => {
      inside.push(await errorOf(http.send(write(server.url))), await errorOf(http.send(read(server.url))));
    };
    const timers = timersOf(54_321);
    const late = expect(withinCallTime(54_321, call, () => new Error('late'))).rejects.toThrow('late');
    await expect.poll(() => server.requests).toHaveLength(1);
    timers.end();
    await late;
    await expect.poll(server.open).toBe(0);
    expect(server.requests).toHaveLength(1);
    await expect.poll(() => inside).toMatchObject([{ kind: 'outcome_unknown' }, { kind: 'unavailable' }]);
  });
});

describe('a connection that breaks', () => {
  test('before anything was sent allows any retry', async () => {
    withoutPause();
    const url = `https://127.0.0.1:${await freePort()}`;
    for (const request of [read(url), write(url)]) {
      const error = await errorOf(connect().send(request));
      expect(error).toMatchObject({
        kind: 'unavailable',
        message: `Connection refused by ${new URL(url).host}`,
        cause: { code: 'ECONNREFUSED' },
      });
    }
    const closesAtOnce = await serveSocket((socket) => socket.destroy());
    expect((await errorOf(connect().send(write(closesAtOnce.url.replace('http:', 'https:'))))).kind).toBe(
      'unavailable',
    );
    expect(closesAtOnce.connections()).toBe(3);
  });

  test.each([
    ['while a request is sent', cut],
    ['during the response', cutHalfWay],
  ])('%s allows retries of repeatable requests only', async (_when, answer) => {
    withoutPause();
    const server = await serve(answer);
    const http = connect();
    expect((await errorOf(http.send(write(server.url)))).kind).toBe('outcome_unknown');
    expect(server.requests).toHaveLength(1);
    expect(await errorOf(http.send(read(server.url)))).toMatchObject({
      kind: 'connection_closed',
      message: `Connection closed by ${new URL(server.url).host}`,
      cause: { code: 'UND_ERR_SOCKET' },
    });
    expect(server.requests).toHaveLength(4);
    expect((await errorOf(http.send(search(server.url)))).kind).toBe('connection_closed');
    expect(server.requests).toHaveLength(7);
  });

  test('once is hidden by a retry of a repeatable request', async () => {
    for (const answer of [cut, cutHalfWay]) {
      const server = await serve((request, response, count) =>
        count === 1 ? answer(request, response) : ok(request, response),
      );
      expect((await connect().send(search(server.url))).text).toBe('fine');
      expect(server.requests).toHaveLength(2);
    }
  });

  test('permanently after a write makes its outcome unknown', async () => {
    const server = await serve((request, response, count) =>
      count === 1 ? cut(request) : response.writeHead(429).end(),
    );
    const http = connect({ retries: 1 });
    expect((await errorOf(http.send(search(server.url)))).kind).toBe('timeout');
  });
});

describe('an EHR that reports an outage', () => {
  const respondingWith = (status: number, headers: Record<string, string> = {}) =>
    serve((_request, response) => response.writeHead(status, headers).end(secret));

  test.each([429, 502, 503, 504])('with %i is retried as often as configured', async (status) => {
    withoutPause();
    for (const retries of [0, 1, 3]) {
      const server = await respondingWith(status);
      expect((await errorOf(connect({ retries }).send(read(server.url)))).kind).toBe('unavailable');
      expect(server.requests).toHaveLength(retries + 1);
    }
  });

  test.each([
    [503, { 'retry-after': '60' }, 'unavailable'],
    [503, {}, 'outcome_unknown'],
    [502, {}, 'outcome_unknown'],
    [504, {}, 'outcome_unknown'],
  ])('with %i and %o does not get the write again', async (status, headers, kind) => {
    const server = await respondingWith(status, headers);
    expect((await errorOf(connect().send(write(server.url)))).kind).toBe(kind);
    expect(server.requests).toHaveLength(1);
  });

  test('is retried only after its Retry-After', async () => {
    const at: number[] = [];
    const server = await serve((_request, response, count) => {
      at.push(performance.now());
      if (count === 1) response.writeHead(503, { 'retry-after': '1' }).end();
      else response.end('fine');
    });
    expect((await connect().send(read(server.url))).text).toBe('fine');
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(990);
  });

  test('is not retried if its Retry-After is too long', async () => {
    for (const value of ['120', new Date(Date.now() + 120_000).toUTCString()]) {
      const server = await respondingWith(503, { 'retry-after': value });
      const error = await errorOf(connect().send(read(server.url)));
      expect(error.kind).toBe('unavailable');
      expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(119);
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(120);
      expect(server.requests).toHaveLength(1);
    }
  });

  test('is not retried before its quota is reset', async () => {
    const server = await respondingWith(429, { ratelimit: '"requests";r=812;t=60, "searches";r=0;t=41' });
    const error = await errorOf(connect().send(read(server.url)));
    expect(error.kind).toBe('unavailable');
    expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(41);
    expect(error.retryAfterSeconds).toBeLessThan(50);
    expect(server.requests).toHaveLength(1);
  });

  test('is not retried if the call would time out', async () => {
    const server = await respondingWith(503, { 'retry-after': '5' });
    const http = connect();
    const call = () =>
      withinCallTime(
        4900,
        () => http.send(read(server.url)),
        () => new Error('late'),
      );
    const error = await errorOf(call());
    expect(error.kind).toBe('unavailable');
    expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(5);
    expect(server.requests).toHaveLength(1);
  });
});

describe('an EHR that limits the rate of requests', () => {
  test.each([
    [429, {}],
    [429, { 'retry-after': '1' }],
    [503, { 'retry-after': '1' }],
  ])('with %i and %o gets a write again: it has not processed it', async (status, headers) => {
    const server = await serve((request, response, count) =>
      count === 1 ? response.writeHead(status, headers).end() : ok(request, response),
    );
    expect((await connect({ retries: 1 }).send(write(server.url))).text).toBe('fine');
    expect(server.requests).toHaveLength(2);
  });

  const busy = { status: 503, headers: { 'retry-after': '5' } };
  /** An EHR that responds as `now` says, and what a call ends with there. */
  async function ehr(now: { status: number; headers: Record<string, string> }) {
    const clock = vi.spyOn(performance, 'now');
    const start = performance.now();
    const server = await serve((_request, response) => response.writeHead(now.status, now.headers).end());
    const http = connect({ retries: 0 });
    const pass = (seconds: number) => void clock.mockReturnValue(start + seconds * 1000);
    const call = async () => {
      const facts = newFacts();
      const { signal } = new AbortController();
      const begun = performance.now();
      const scope = {
        signal: () => signal,
        begun,
        deadline: () => begun + 4000,
        facts,
        onFailure: () => () => undefined,
        progress: () => undefined,
      };
      const error = await callScope.run(scope, () => http.send(write(server.url))).catch((reason: unknown) => reason);
      if (error instanceof ConnectorError) return facts.wasThrottled ? 'throttled' : error.kind;
      return 'accepted';
    };
    return { pass, call };
  }

  test('with 503, and accepts nothing for 30 seconds, is unavailable until it accepts a request', async () => {
    const now = { ...busy };
    const { pass, call } = await ehr(now);
    pass(0);
    expect(await call()).toBe('throttled');
    pass(20);
    expect(await call()).toBe('throttled');
    pass(40);
    expect(await call()).toBe('unavailable');
    pass(50);
    expect(await call()).toBe('unavailable');
    pass(60);
    now.status = 200;
    expect(await call()).toBe('accepted');
    pass(70);
    now.status = 503;
    expect(await call()).toBe('throttled');
  });

  test('with 429 is never unavailable', async () => {
    const { pass, call } = await ehr({ ...busy, status: 429 });
    for (const seconds of [0, 20, 40, 60]) {
      pass(seconds);
      expect(await call()).toBe('throttled');
    }
  });
});
