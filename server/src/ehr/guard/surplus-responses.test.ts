import type { Socket } from 'node:net';
import type { EhrRequest } from '@crossward/connector-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEhrHttp } from './ehr-http.ts';
import { serveSocket } from './test-servers.ts';

/*
 * A connection that is kept alive and on which the server sends more responses than it got requests. Nothing in HTTP/1.1
 * says which request a response belongs to: https://www.rfc-editor.org/rfc/rfc9112#section-9.2
 */

function connect(connections = 1) {
  const http = createEhrHttp({
    connectTimeoutMs: 20_000,
    requestTimeoutMs: 20_000,
    connections,
    retries: 2,
    maxResponseBytes: 1024,
    allowPrivateAddresses: true,
    allowPlainText: true,
  });
  onTestFinished(() => http.close());
  return http;
}

interface Seen {
  readonly path: string;
  readonly requestId: string | undefined;
  /** 1 for the first request of the server. */
  readonly count: number;
}

function response(body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ 'content-length': String(body.length), ...headers }).map(
    ([name, it]) => `${name}: ${it}`,
  );
  return ['HTTP/1.1 200 OK', ...lines, '', body].join('\r\n');
}

/** Answers each request as `respond` does. */
function serveRequests(respond: (socket: Socket, seen: Seen) => void) {
  let count = 0;
  return serveSocket((socket) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end);
        const body = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
        text = text.slice(end + 4 + body);
        const requestId = /^x-request-id: (.+)$/im.exec(head)?.[1];
        respond(socket, { path: head.split(' ')[1] ?? '', requestId, count: ++count });
      }
    });
  });
}

const read = (url: string, path: string): EhrRequest => ({ method: 'GET', url: `${url}${path}`, repeatable: true });
const surplus = response('/Patient/surplus');

describe('a surplus response is not given to the next request, if it arrives', () => {
  test('together with the one before it', async () => {
    const server = await serveRequests((socket, { path }) => socket.write(response(path) + surplus));
    const http = connect();
    for (let count = 0; count < 50; count++) {
      expect((await http.send(read(server.url, `/${count}`))).text).toBe(`/${count}`);
    }
  });

  test('while the connection is idle', async () => {
    const server = await serveRequests((socket, { path }) => {
      socket.write(response(path));
      setImmediate(() => socket.write(surplus));
    });
    const http = connect();
    for (let count = 0; count < 5; count++) {
      expect((await http.send(read(server.url, `/${count}`))).text).toBe(`/${count}`);
      await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 20_000 });
    }
  });

  test('while other requests wait for the connection', async () => {
    const server = await serveRequests((socket, { path }) => socket.write(response(path) + surplus));
    const http = connect();
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
    const texts = await Promise.all(paths.map(async (path) => (await http.send(read(server.url, path))).text));
    expect(texts).toEqual(paths);
  });
});

describe('a server that repeats X-Request-Id', () => {
  /** Sends the second request what belongs to the first one, and its own response after that. */
  function confused(header: string) {
    let first: string | undefined;
    return serveRequests((socket, { path, requestId = '', count }) => {
      first ??= requestId;
      if (count === 2) socket.write(response('/surplus', { [header]: first }));
      socket.write(response(path, { [header]: requestId }));
    });
  }

  test.each(['X-Request-Id', 'X-Correlation-Id'])(
    'a read gets no response with the %s of another request',
    async (header) => {
      const server = await confused(header);
      const http = connect();
      expect((await http.send(read(server.url, '/one'))).text).toBe('/one');
      expect((await http.send(read(server.url, '/two'))).text).toBe('/two');
      expect((await http.send(read(server.url, '/three'))).text).toBe('/three');
      // The connection whose order is lost is not used again.
      expect(server.connections()).toBe(2);
    },
  );

  test('a cache in front of it may repeat the X-Request-Id of the request that filled it', async () => {
    let first: string | undefined;
    const server = await serveRequests((socket, { requestId = '' }) => {
      const age = first === undefined ? {} : { age: '60' };
      first ??= requestId;
      socket.write(response('metadata', { 'x-request-id': first, ...age }));
    });
    const http = connect();
    for (let count = 0; count < 3; count++) {
      expect((await http.send(read(server.url, '/metadata'))).text).toBe('metadata');
    }
    expect(server.connections()).toBe(1);
  });

  test('the outcome of a write that gets the response to another request is unknown', async () => {
    const server = await confused('x-request-id');
    const http = connect();
    await http.send(read(server.url, '/one'));
    const write: EhrRequest = { method: 'POST', url: `${server.url}/two`, body: 'x', repeatable: false };
    await expect(http.send(write)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  });
});

test('each attempt has an X-Request-Id of its own, and a server may answer with another one', async () => {
  const ids: (string | undefined)[] = [];
  const server = await serveRequests((socket, { path, requestId, count }) => {
    ids.push(requestId);
    if (count === 1) socket.destroy();
    else socket.write(response(path, { 'x-request-id': `of the server ${count}` }));
  });
  const http = connect();
  expect((await http.send(read(server.url, '/one'))).text).toBe('/one');
  expect((await http.send(read(server.url, '/two'))).text).toBe('/two');
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toContain(undefined);
});
