/** @module-tag any-database */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connector, ConnectorError, type DocumentContent } from '@crossward/connector-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { createLargeDocument, documentsOf, pdfOf } from '../../../test/requests/documents.ts';

/** What the EHR returns instead of the content. */
let replaced: ((content: DocumentContent) => DocumentContent) | undefined;
let cancelled = 0;

/** Counts the streams that ended before their end. */
function watched(content: DocumentContent): DocumentContent {
  const source = content.chunks[Symbol.asyncIterator]();
  const chunks: AsyncIterableIterator<Uint8Array> = {
    next: () => source.next(),
    async return() {
      cancelled += 1;
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { ...content, chunks };
}

function changed(connector: Connector): Connector {
  return {
    ...connector,
    async readDocument(...input) {
      const content = (await connector.readDocument?.(...input)) ?? null;
      return content && watched(replaced ? replaced(content) : content);
    },
  };
}

const gateway = await startGateway({ connectors: [wrapConnector(changed)] });
afterAll(() => gateway.close());

const bytes = pdfOf(8 * 1024 * 1024);
let path = '';
beforeAll(async () => {
  const { body } = await createLargeDocument(gateway, bytes, { title: 'Journal of nobody' });
  path = `${documentsOf('p-3')}/${body.id}/content`;
});
beforeEach(() => {
  replaced = undefined;
  cancelled = 0;
});

async function openDownload(): Promise<IncomingMessage> {
  const { id, secret } = gateway.credentials('everything');
  const headers = { 'x-service-client-id': id, 'x-service-client-secret': secret };
  const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

test('a caller that disconnects cancels the stream of the EHR', async () => {
  replaced = (content) => ({ ...content, chunks: slow() });
  const response = await openDownload();
  await once(response, 'data');
  response.destroy();
  await expect.poll(() => cancelled).toBe(1);
  replaced = undefined;
  expect((await gateway.request('GET', path)).bytes.equals(bytes)).toBe(true);
});

/** Sends so slowly that it does not end before the caller disconnects, whatever the buffers in between hold. */
async function* slow(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 100_000);
  for (let sent = 100_000; ; sent++) {
    yield bytes.subarray(sent, sent + 1);
    await sleep(5);
  }
}

test('a stream that breaks off breaks the connection, and the log names no message', async () => {
  replaced = (content) => ({ ...content, chunks: broken() });
  const response = await openDownload();
  await expect(response.toArray()).rejects.toThrow('aborted');
  await expect.poll(() => gateway.logLines.some((line) => line.includes('response broke off'))).toBe(true);
  expect(gateway.logLines.join('')).not.toContain('nobody');
});

async function* broken(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 100_000);
  throw new Error('Journal of nobody');
}

test('a stream that fails before its first byte is a problem', async () => {
  replaced = (content) => ({ ...content, chunks: failing() });
  expect(await gateway.request('GET', path)).toMatchObject({ status: 504, body: { reason: 'ehr_timeout' } });
});

async function* failing(): AsyncGenerator<Uint8Array> {
  yield* [];
  throw new ConnectorError('timeout', 'Simulated');
}

describe('content of another size than the EHR says', () => {
  test('that is too long breaks the connection before the first byte too many', async () => {
    async function* tooLong() {
      yield bytes.subarray(0, 100_000);
      yield* Array<Buffer>(100).fill(bytes.subarray(0, 1000));
    }
    replaced = (content) => ({ ...content, size: 100_000, chunks: tooLong() });
    const response = await openDownload();
    const { socket } = response;
    const closed = once(socket, 'close');
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    // Whether the caller has read the whole content or not, nothing follows on the connection.
    response.on('error', () => undefined);
    await closed;
    expect(length).toBeLessThanOrEqual(100_000);
    expect(socket.bytesRead).toBeLessThan(102_000);
  });

  test('that is too short breaks the connection', async () => {
    replaced = (content) => ({ ...content, size: bytes.length + 1 });
    await expect((await openDownload()).toArray()).rejects.toThrow('aborted');
  });

  test('that is empty is a problem', async () => {
    replaced = (content) => ({ ...content, chunks: Readable.from([]) });
    expect(await gateway.request('GET', path)).toMatchObject({ status: 502, body: { reason: 'ehr_rejected' } });
  });
});

describe('content that this interface does not store', () => {
  test.each(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'nonsense', 'text/html; charset=utf-8'])(
    'of type %s is sent as bytes',
    async (contentType) => {
      replaced = (content) => ({ ...content, contentType });
      const { status, headers } = await gateway.request('GET', path);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="Journal of nobody.bin"',
        'x-content-type-options': 'nosniff',
      });
    },
  );

  test('of an unknown size has no length', async () => {
    replaced = (content) => ({ ...content, contentType: 'Text/Plain; charset=utf-8', size: null });
    const { headers, bytes: read } = await gateway.request('GET', path);
    expect(headers).toMatchObject({ 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
    expect(read.equals(bytes)).toBe(true);
  });
});
