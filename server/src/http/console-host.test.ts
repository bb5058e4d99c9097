import { expect, test } from 'vitest';
import { consoleUrl } from './console-host.ts';

const url = 'https://gateway.example.org/crossward';

test.each([
  [url, 'gateway.example.org', url],
  [url, 'Gateway.Example.org', url],
  [url, 'gateway.example.org:8443', undefined],
  [url, 'appointments.example.org', undefined],
  [url, 'localhost', undefined],
  [undefined, 'localhost:8080', 'http://localhost:8080'],
  [undefined, '127.0.0.1:8080', 'http://127.0.0.1:8080'],
  [undefined, '[::1]:8080', 'http://[::1]:8080'],
  [undefined, 'localhost:99999', undefined],
  [undefined, 'localhost.example.org', undefined],
  [undefined, '192.168.1.1', undefined],
  [undefined, '', undefined],
])('the console at %s is reached under the host %j at %s', (configured, host, expected) => {
  expect(consoleUrl(configured === undefined ? {} : { url: configured }, host)).toBe(expected);
});
