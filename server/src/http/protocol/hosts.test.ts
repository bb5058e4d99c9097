import { expect, test } from 'vitest';
import { consoleUrl, isPublicHost } from './hosts.ts';

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

const publicUrl = 'https://appointments.example.org';

test.each([
  [{ publicUrl, consoleUrl: url }, 'Appointments.example.org', true],
  [{ publicUrl, consoleUrl: url }, 'gateway.example.org', false],
  [{ publicUrl, consoleUrl: url }, undefined, false],
  [{ publicUrl, consoleUrl: publicUrl }, 'appointments.example.org', false],
  [{ publicUrl, consoleUrl: undefined }, 'appointments.example.org', false],
  [{ publicUrl: undefined, consoleUrl: url }, 'appointments.example.org', false],
])('with %j, the host %j is that of patients only: %s', (urls, header, expected) => {
  expect(isPublicHost(urls, header)).toBe(expected);
});
