/** @module-tag any-database */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { oslo } from '../../../../test/requests/bookings.ts';
import type { Configuration } from '../../config/configuration.ts';

async function gatewayWith(http: Partial<Configuration['http']>): Promise<Gateway> {
  const gateway = await startGateway({ configure: (it) => ({ ...it, http: { ...it.http, ...http } }) });
  onTestFinished(() => gateway.close());
  return gateway;
}

interface Caller {
  readonly socket: Socket;
  /** The bytes received so far. */
  text(): string;
  readonly closed: Promise<unknown>;
}

function call(gateway: Gateway): Caller {
  const socket = connect(gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  return { socket, text: () => text, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

/** Sends one byte at a time while the connection is open, and never ends the request. */
function trickle(socket: Socket, text = ' '): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.once('close', () => clearInterval(timer));
}

function head(gateway: Gateway, more: string, secret = gateway.credentials('everything').secret): string {
  const { id } = gateway.credentials('everything');
  return `POST ${oslo}/appointments HTTP/1.1\r\nhost: x\r\nx-service-client-id: ${id}\r\nx-service-client-secret: ${secret}\r\ncontent-type: application/json\r\n${more}\r\n`;
}

describe('an incomplete request', () => {
  test.each([
    ['in its head', (): string => 'GET /api/emrs HTTP/1.1\r\nx-slow: '],
    ['in its body', (gateway: Gateway) => head(gateway, 'content-length: 1000\r\n')],
  ])('is rejected after the time-out: %s', async (_, begin) => {
    const gateway = await gatewayWith({ request_timeout_seconds: 1 });
    const { socket, text, closed } = call(gateway);
    socket.write(begin(gateway));
    trickle(socket, 'x');
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 400 .*The request did not arrive in time/s);
    expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test.each([
    ['short', 'content-length: 1000\r\n', ' '],
    ['long', 'content-length: 1000000\r\n', ' '],
    ['in chunks', 'transfer-encoding: chunked\r\n', '1\r\n \r\n'],
  ])('is not read for long after the response: %s', async (_, length, text) => {
    const gateway = await gatewayWith({ request_timeout_seconds: 3600 });
    const caller = call(gateway);
    caller.socket.write(head(gateway, length, 'wrong'));
    trickle(caller.socket, text);
    await caller.closed;
    expect(caller.text()).toMatch(/^HTTP\/1\.1 401 /);
  });
});

test('a connection stays usable if the rest of a short body arrives after an error', async () => {
  const gateway = await gatewayWith({});
  const { socket, text } = call(gateway);
  socket.write(head(gateway, 'content-length: 2\r\n', 'wrong'));
  await expect.poll(text).toMatch(/^HTTP\/1\.1 401 /);
  expect(text()).not.toMatch(/connection: close/i);
  socket.write('{}GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(text).toMatch(/HTTP\/1\.1 200 /);
});

test('a caller gets the response to an oversized body while it is still sending', async () => {
  const gateway = await gatewayWith({});
  const { socket, text, closed } = call(gateway);
  socket.write(head(gateway, 'transfer-encoding: chunked\r\n'));
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const send = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', send);
  send();
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
});

describe('connections', () => {
  async function getsResponse(gateway: Gateway): Promise<boolean> {
    const { socket, text, closed } = call(gateway);
    socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await Promise.race([closed, new Promise((resolve) => socket.once('data', resolve))]);
    return text() !== '';
  }
  const rejected = async (gateway: Gateway, limit: string) => {
    const text = await gateway.deps.metrics.metrics();
    return Number(new RegExp(`connections_rejected_total\\{limit="${limit}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
  };

  test('are limited per address while they are open', async () => {
    const gateway = await gatewayWith({ max_connections_per_address: 2 });
    const [first, second] = [call(gateway), call(gateway)];
    await Promise.all([once(first.socket, 'connect'), once(second.socket, 'connect')]);
    expect(await getsResponse(gateway)).toBe(false);
    expect(await rejected(gateway, 'address')).toBe(1);
    first.socket.destroy();
    await expect.poll(() => getsResponse(gateway)).toBe(true);
  });

  test('of a trusted proxy have no limit per address', async () => {
    const gateway = await gatewayWith({ max_connections_per_address: 1, trusted_proxies: ['127.0.0.0/8'] });
    for (let count = 0; count < 3; count++) expect(await getsResponse(gateway)).toBe(true);
  });

  test('have a total limit', async () => {
    const gateway = await gatewayWith({ max_connections: 1, trusted_proxies: ['127.0.0.1'] });
    expect(await getsResponse(gateway)).toBe(true);
    expect(await getsResponse(gateway)).toBe(false);
    expect(await rejected(gateway, 'all')).toBe(1);
  });
});
