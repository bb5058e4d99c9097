import dns from 'node:dns';
import { createServer, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../test/processes/free-port.ts';
import { urlMistake } from '../ehr/guard/address-rules.ts';
import { createDeliverySender } from './send-delivery.ts';
import { makeSecret } from './signing.ts';

let requests = 0;
const server = createServer((_, response) => {
  requests++;
  response.end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());

const endpoint = (host: string) => ({ url: `http://${host}:${port}/`, secret: makeSecret(), previousSecrets: [] });
const settings = { allow_http: true, timeout_ms: 10_000 };

/** Resolves every host name to an address, until the test ends. */
function resolveTo(address: string): void {
  const { lookup } = dns;
  const set = (next: unknown) => {
    Object.assign(dns, { lookup: next });
    syncBuiltinESMExports();
  };
  set((_host: string, _options: object, callback: (error: null, found: object[]) => void) =>
    callback(null, [{ address, family: 4 }]),
  );
  onTestFinished(() => set(lookup));
}

test('a host name that resolves to a loopback address is rejected when connecting', async () => {
  resolveTo('127.0.0.1');
  const sender = createDeliverySender({ ...settings, allow_private_addresses: false });
  const rebound = endpoint('hooks.clinic.example');
  expect(urlMistake(rebound.url, { allow_http: true, allow_private_addresses: false })).toBeUndefined();
  expect(await sender.send(rebound, 'e-1', { payload: '{}' })).toEqual({ failure: 'address_rejected' });
  expect(await sender.send(endpoint('127.0.0.1'), 'e-1', { payload: '{}' })).toEqual({ failure: 'address_rejected' });
  expect(requests).toBe(0);
  await sender.close();
});

test('an address that the operator allows is used', async () => {
  const sender = createDeliverySender({ ...settings, allow_private_addresses: true });
  expect(await sender.send(endpoint('127.0.0.1'), 'e-1', { payload: '{}' })).toEqual({ status: 200 });
  expect(await sender.send(endpoint('localhost'), 'e-1', { payload: '{}' })).toEqual({ status: 200 });
  expect(requests).toBe(2);
  await sender.close();
});

test('a URL without TLS is rejected unless the operator allows it', async () => {
  const sender = createDeliverySender({ ...settings, allow_http: false, allow_private_addresses: true });
  expect(await sender.send(endpoint('127.0.0.1'), 'e-1', { payload: '{}' })).toEqual({ failure: 'address_rejected' });
  await sender.close();
});

test('a receiver asks to wait with a number of seconds or a date', async () => {
  const future = new Date(Date.now() + 3_600_000).toUTCString();
  const headers = ['120', future, 'soon'];
  const asking = createServer((_, response) => response.writeHead(503, { 'retry-after': headers.shift() }).end());
  await new Promise<void>((resolve) => asking.listen(0, '127.0.0.1', resolve));
  const { port: askingPort } = asking.address() as AddressInfo;
  const sender = createDeliverySender({ ...settings, allow_private_addresses: true });
  const url = `http://127.0.0.1:${askingPort}/`;
  const waits: (number | undefined)[] = [];
  for (const _ of [1, 2, 3])
    waits.push((await sender.send({ ...endpoint(''), url }, 'e-1', { payload: '{}' })).retryAfterSeconds);
  expect(waits).toEqual([120, expect.any(Number), undefined]);
  expect(waits[1]).toBeGreaterThan(0);
  await sender.close();
  asking.close();
});

test('endpoints that do not respond hold up no other one on their host', async () => {
  const slow = 20;
  const allHang = Promise.withResolvers<void>();
  const hanging: ServerResponse[] = [];
  const shared = createServer((request, response) => {
    if (request.url === '/quick') response.end();
    else if (hanging.push(response) === slow) allHang.resolve();
  });
  await new Promise<void>((resolve) => shared.listen(0, '127.0.0.1', resolve));
  const { port: sharedPort } = shared.address() as AddressInfo;
  const sender = createDeliverySender({ ...settings, allow_private_addresses: true });
  const at = (path: string) =>
    sender.send({ ...endpoint('127.0.0.1'), url: `http://127.0.0.1:${sharedPort}${path}` }, 'e-1', { payload: '{}' });
  const others = Array.from({ length: slow }, (_, number) => at(`/slow-${number % 5}`));
  await allHang.promise;
  expect(await at('/quick')).toEqual({ status: 200 });
  for (const response of hanging) response.end();
  expect(await Promise.all(others)).toEqual(others.map(() => ({ status: 200 })));
  await sender.close();
  shared.close();
});

test('an attempt fails with `timeout` if the receiver does not respond, and with `tls` if it has no TLS', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port: silentPort } = silent.address() as AddressInfo;
  const sender = createDeliverySender({ allow_http: true, allow_private_addresses: true, timeout_ms: 100 });
  const at = (url: string) => sender.send({ url, secret: makeSecret(), previousSecrets: [] }, 'e-1', { payload: '{}' });
  expect(await at(`http://127.0.0.1:${silentPort}/`)).toEqual({ failure: 'timeout' });
  expect((await at(`https://127.0.0.1:${port}/`)).failure).toBeOneOf(['tls', 'timeout']);
  await sender.close();
  silent.closeAllConnections();
  silent.close();
});

test('an attempt at a port that nothing listens at fails with `connection_refused`', async () => {
  const sender = createDeliverySender({ ...settings, allow_private_addresses: true });
  const closed = { ...endpoint('127.0.0.1'), url: `http://127.0.0.1:${await freePort()}/` };
  expect(await sender.send(closed, 'e-1', { payload: '{}' })).toEqual({ failure: 'connection_refused' });
  await sender.close();
});
