/** @module-tag any-database */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo } from '../../../../test/requests/bookings.ts';
import { newRequestId } from '../../../../test/requests/request-id.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const { id, secret } = gateway.credentials('everything');
const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-service-client-id: ${id}\r\nx-service-client-secret: ${secret}\r\n${more}\r\n`;

async function booking(): Promise<string> {
  const body = JSON.stringify(creationBody(await freeSlot(gateway)));
  const more = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${head('POST', `${oslo}/appointments`, more)}${body}`;
}

interface AppointmentResponse {
  readonly status: number;
  readonly requestId: string;
  readonly body: { readonly reason?: string; readonly detail?: string };
}

/** All responses to these bytes, until the gateway closes the connection. */
async function exchange(text: string): Promise<AppointmentResponse[]> {
  const socket = connect(gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  let raw = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    raw += chunk;
  });
  await once(socket, 'connect');
  socket.write(text);
  await once(socket, 'end');
  return raw
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((response) => response !== '')
    .map((response) => {
      const [lines = '', body = ''] = response.split('\r\n\r\n');
      return {
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(lines)?.[1]),
        requestId: /x-request-id: (\S+)/i.exec(lines)?.[1] ?? '',
        body: JSON.parse(body || '{}'),
      };
    });
}

const linesOf = (requestId: string) =>
  gateway.logLines.map((line) => JSON.parse(line)).filter((line) => line.request_id === requestId);

describe('invalid HTTP after a request', () => {
  test.each(['nonsense\r\n\r\n', '\u0016\u0003\u0001', `${'x'.repeat(70_000)}`])(
    'does not affect the response to the request: %j',
    async (garbage) => {
      const [own, rest, ...more] = await exchange(`${await booking()}${garbage}`);
      expect(own?.status).toBe(201);
      expect(rest).toMatchObject({ status: expect.toBeOneOf([400, 414, 431]) });
      expect(more).toEqual([]);
      expect(rest?.requestId).not.toBe(own?.requestId);
      await expect.poll(() => linesOf(own?.requestId ?? '')).toMatchObject([{ status: 201 }]);
      await expect.poll(() => linesOf(rest?.requestId ?? '')).toMatchObject([{ msg: 'request', status: rest?.status }]);
    },
  );

  test('does not affect the responses to several requests', async () => {
    const responses = await exchange(`${await booking()}${head('GET', '/api/emrs').repeat(3)}nonsense\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 200, 400]);
  });

  test('does not affect the response if the connection is then closed', async () => {
    const responses = await exchange(`${head('GET', '/api/emrs', 'connection: close\r\n')}nonsense\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([200]);
  });
});

describe('invalid HTTP within a body', () => {
  const unreadable = head(
    'POST',
    `${oslo}/appointments`,
    'content-type: application/json\r\ntransfer-encoding: chunked\r\n',
  );

  test('is rejected with the id of that request', async () => {
    const requestId = newRequestId();
    const text = unreadable.replace('\r\n', `\r\nx-request-id: ${requestId}\r\n`);
    const [response, ...more] = await exchange(`${text}5\r\n{"a":\r\nzz\r\n`);
    expect(response).toMatchObject({ status: 400, requestId, body: { reason: 'request_invalid' } });
    expect(more).toEqual([]);
    await expect.poll(() => linesOf(requestId)).toMatchObject([{ status: 400, reason: 'request_invalid', client: id }]);
  });

  test('is rejected after the responses to earlier requests', async () => {
    const responses = await exchange(`${await booking()}${unreadable}5\r\n{"a":\r\nzz\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([201, 400]);
  });

  test('closes the connection if the response was already sent', async () => {
    const rejected = unreadable.replace(secret, 'wrong');
    const responses = await exchange(`${rejected}5\r\n{"a":\r\nzz\r\n`);
    expect(responses.length).toBe(1);
  });
});
