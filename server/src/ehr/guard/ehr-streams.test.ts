import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { ConnectorError, type EhrRequest } from '@crossward/connector-kit';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEhrHttp, type EhrHttpSettings } from './ehr-http.ts';
import { serve } from './test-servers.ts';

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

const mebibyte = Buffer.alloc(1024 * 1024, 'x');
const read = (url: string): EhrRequest => ({ method: 'GET', url: `${url}/Binary/1`, repeatable: true });
const write = (url: string, body: EhrRequest['body'], repeatable = false): EhrRequest => ({
  method: 'POST',
  url: `${url}/Binary`,
  repeatable,
  ...(body === undefined ? {} : { body }),
});

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}

async function received(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}

/** Sends this many mebibytes as fast as they are read. */
function sendMany(response: ServerResponse, count: number): void {
  Readable.from(Array.from({ length: count }, () => mebibyte)).pipe(response);
}

afterEach(() => void vi.restoreAllMocks());

describe('a streamed response', () => {
  test('is returned when its head has arrived, and read to the end', async () => {
    let finish: (() => void) | undefined;
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/pdf' });
      response.write(mebibyte);
      finish = () => void response.end(mebibyte);
    });
    const { status, headers, chunks } = await connect().stream(read(server.url));
    expect([status, headers['content-type']]).toEqual([200, 'application/pdf']);
    finish?.();
    expect((await bytesOf(chunks)).length).toBe(2 * mebibyte.length);
  });

  test('is not read faster than its reader', async () => {
    let sent = 0;
    const server = await serve(async (_request, response) => {
      for (; sent < 60; sent++) if (!response.write(mebibyte)) await once(response, 'drain');
      response.end();
    });
    const { chunks } = await connect().stream(read(server.url));
    const iterator = chunks[Symbol.asyncIterator]();
    await iterator.next();
    await expect.poll(() => sent).toBeGreaterThan(0);
    const before = sent;
    expect(before).toBeLessThan(60);
    let size = 0;
    for await (const chunk of chunks) size += chunk.length;
    expect(sent).toBe(60);
    expect(size).toBeGreaterThan(59 * mebibyte.length);
  });

  test.each([
    ['after its first part', async (chunks: AsyncIterator<Uint8Array>) => void (await chunks.next())],
    ['before it was read', async () => undefined],
  ])('that nobody wants any more %s is cancelled', async (_, begin) => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.once('close', closed.resolve);
      sendMany(response, 50);
    });
    const { chunks } = await connect().stream(read(server.url));
    const iterator = chunks[Symbol.asyncIterator]();
    await begin(iterator);
    await iterator.return?.();
    await closed.promise;
  });

  test('of more than 100 MiB is cut off', async () => {
    const server = await serve((_request, response) => sendMany(response, 101));
    const { chunks } = await connect().stream(read(server.url));
    const size = async () => {
      for await (const _ of chunks);
    };
    await expect(size()).rejects.toMatchObject({ kind: 'rejected' });
  });

  test.each([
    ['breaks off', 'connection_closed', (_: IncomingMessage, response: ServerResponse) => response.destroy()],
    ['stops', 'timeout', () => undefined],
  ] as const)('that %s throws %s', async (_, kind, then) => {
    const server = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '2000000' });
      response.write(mebibyte, () => then(request, response));
    });
    const { chunks } = await connect({ requestTimeoutMs: kind === 'timeout' ? 1000 : 20_000 }).stream(read(server.url));
    await expect(bytesOf(chunks)).rejects.toMatchObject({ kind });
  });

  test('is requested again after 503, and not after its head has arrived', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const server = await serve((_request, response, count) => {
      if (count === 1) response.writeHead(503).end(mebibyte);
      else response.end('fine');
    });
    const { chunks } = await connect().stream(read(server.url));
    expect((await bytesOf(chunks)).toString()).toBe('fine');
    expect(server.requests).toHaveLength(2);
  });

  test('comes from permitted addresses only', async () => {
    const server = await serve((_request, response) => void response.end('fine'));
    const stream = connect({ allowPrivateAddresses: false }).stream(read(server.url));
    await expect(stream).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('not allowed'),
    });
  });
});

describe('a streamed body', () => {
  const bodyOf = (count: number) => ({
    size: count * mebibyte.length,
    async *read() {
      for (let sent = 0; sent < count; sent++) yield mebibyte;
    },
  });

  test('is sent with its length', async () => {
    const server = await serve(async (request, response) => {
      const body = await received(request);
      response.end(`${request.headers['content-length']} ${request.headers['transfer-encoding']} ${body.length}`);
    });
    const { text } = await connect().send(write(server.url, bodyOf(3)));
    expect(text).toBe(`${3 * mebibyte.length} undefined ${3 * mebibyte.length}`);
  });

  test('is read from its beginning for each attempt', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const server = await serve(async (request, response, count) => {
      const { length } = await received(request);
      response.writeHead(count === 1 ? 503 : 200).end(String(length));
    });
    const { text } = await connect().send(write(server.url, bodyOf(2), true));
    expect(text).toBe(String(2 * mebibyte.length));
    expect(server.requests).toHaveLength(2);
  });

  describe('on a slow line', () => {
    const requestTimeoutMs = 20_000;
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());
    /** Each part but the last one takes this long. */
    const slowBody = (milliseconds: number) => ({
      size: 4 * mebibyte.length,
      async *read() {
        for (let part = 1; part <= 4; part++) {
          yield mebibyte;
          if (part < 4) vi.advanceTimersByTime(milliseconds);
        }
      },
    });

    test('may take longer than the time-out while it makes progress', async () => {
      const server = await serve(
        async (request, response) => void response.end(String((await received(request)).length)),
      );
      const { text } = await connect({ requestTimeoutMs }).send(write(server.url, slowBody(0.9 * requestTimeoutMs)));
      expect(text).toBe(String(4 * mebibyte.length));
    });

    test('times out without progress', async () => {
      const server = await serve((request) => void request.resume().on('error', () => undefined));
      const sent = connect({ requestTimeoutMs }).send(write(server.url, slowBody(1.1 * requestTimeoutMs)));
      await expect(sent).rejects.toMatchObject({ kind: 'outcome_unknown' });
    });

    test('times out without a response', async () => {
      const server = await serve((request) => {
        request.resume().once('end', () => void vi.advanceTimersByTime(1.1 * requestTimeoutMs));
      });
      const sent = connect({ requestTimeoutMs }).send(write(server.url, slowBody(0)));
      await expect(sent).rejects.toMatchObject({ kind: 'outcome_unknown' });
    });
  });

  test('that cannot be read is not a failure of the EHR, and the EHR gets no whole request', async () => {
    const whole: number[] = [];
    const server = await serve(
      (request) =>
        void received(request).then(
          ({ length }) => whole.push(length),
          () => undefined,
        ),
    );
    const broken = {
      size: 2 * mebibyte.length,
      async *read() {
        yield mebibyte;
        throw new RangeError('the database is down');
      },
    };
    const sent = connect().send(write(server.url, broken, true));
    await expect(sent).rejects.toThrow('the database is down');
    await expect(sent).rejects.not.toBeInstanceOf(ConnectorError);
    expect(whole).toEqual([]);
    expect(server.requests.length).toBeLessThan(2);
  });
});
