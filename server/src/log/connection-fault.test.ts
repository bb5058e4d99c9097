import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../../../test/processes/free-port.ts';
import { addressOf, connectionFault } from './connection-fault.ts';
import { describeError } from './describe-error.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('secret hunter2'), { code, ...more });
const address = 'ehr.example:443';

test.each([
  ['ECONNREFUSED', 'connection_refused', `connection refused by ${address}`],
  ['ENOTFOUND', 'host_unknown', 'unknown host name ehr.example'],
  ['EDNS', 'host_unknown', 'unknown host name ehr.example'],
  ['EAI_AGAIN', 'host_unknown', 'the host name ehr.example was not resolved (EAI_AGAIN)'],
  ['ETIMEDOUT', 'timeout', `no connection to ${address} in time`],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout', `no connection to ${address} in time`],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout', `no response from ${address} in time`],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate', `the certificate of ${address} is self-signed and not trusted`],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate', `the certificate of ${address} is from an unknown authority`],
  ['CERT_HAS_EXPIRED', 'certificate', `the certificate of ${address} has expired`],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate', `the certificate of ${address} has another host name`],
  ['CERT_REVOKED', 'certificate', `the certificate of ${address} was not accepted (CERT_REVOKED)`],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate', `${address} requires a client certificate`],
  [
    'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
    'certificate',
    `${address} says that the gateway's client certificate has expired`,
  ],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'certificate', `${address} did not accept the gateway's client certificate`],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', `the TLS handshake with ${address} failed (ERR_SSL_WRONG_VERSION_NUMBER)`],
  ['ECONNRESET', 'connection', `connection closed by ${address}`],
  ['EHOSTUNREACH', 'connection', `no route to ${address}`],
  ['HPE_INVALID_CONSTANT', 'connection', `the response of ${address} is not HTTP`],
])('%s is %s: %s', (code, kind, text) => {
  expect(connectionFault(withCode(code), address)).toEqual({ kind, text });
});

test('is found in the cause of an error, and in one of several errors', () => {
  const cause = withCode('ECONNREFUSED', { address: '127.0.0.1', port: 8095 });
  const text = 'connection refused by 127.0.0.1:8095';
  expect(connectionFault(new Error('fetch failed', { cause }))?.text).toBe(text);
  expect(connectionFault(new AggregateError([new Error('other'), cause]))?.text).toBe(text);
  expect(connectionFault(withCode('ESOCKET', { originalCode: 'CERT_HAS_EXPIRED' }), address)?.kind).toBe('certificate');
  const ownCause = withCode('OTHER');
  ownCause.cause = ownCause;
  expect(connectionFault(ownCause)).toBeUndefined();
});

test.each([
  undefined,
  null,
  'ECONNREFUSED',
  new Error('ECONNREFUSED'),
  withCode('anna@example.org'),
  withCode('23505'),
])('is not found in %s', (error) => expect(connectionFault(error)).toBeUndefined());

test('an address is shown only if it looks like one', () => {
  expect(connectionFault(withCode('ECONNREFUSED', { address: '::1', port: 5432 }))?.text).toBe(
    'connection refused by [::1]:5432',
  );
  expect(connectionFault(withCode('ENOTFOUND', { hostname: 'a b?c=hunter2' }))?.text).toBe(
    'unknown host name the server',
  );
});

test('a real connection that is refused names the host and the port, also in the log', async () => {
  const port = await freePort();
  const error = await new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
  expect(describeError(error)?.fault).toBe(`connection refused by 127.0.0.1:${port}`);
});

test('a server that does not speak TLS is told by fetch', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const url = `https://127.0.0.1:${port}/path?secret=hunter2`;
  const error: unknown = await fetch(url).catch((it: unknown) => it);
  server.close();
  expect(connectionFault(error, addressOf(url))).toMatchObject({
    kind: 'tls',
    text: expect.stringContaining(`the TLS handshake with 127.0.0.1:${port} failed`),
  });
});

test.each([
  ['https://user:hunter2@ehr.example/fhir?key=hunter2', 'ehr.example:443'],
  ['http://[::1]:8095/fhir', '[::1]:8095'],
  ['postgresql://me:hunter2@db.example/crossward', 'db.example:5432'],
])('the address of %s is %s', (url, expected) => {
  expect(addressOf(url)).toBe(expected);
});
