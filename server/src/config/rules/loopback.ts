import { BlockList, isIP } from 'node:net';
import { ConfigurationError } from '../../startup/configuration-error.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** `localhost`, 127.0.0.0/8 and `::1` (RFC 6761, RFC 6890), which other machines cannot reach. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** The same for the host of a URL, which has an IPv6 address in brackets. */
export function isLoopbackHost(hostname: string): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Guards features that show codes or secrets without authentication.
 *
 * @param what subject of the error message
 * @throws {ConfigurationError} unless the gateway listens on a loopback address
 */
export function requireLoopback(host: string, what: string): void {
  if (isLoopback(host)) return;
  throw new ConfigurationError([
    `HOST: ${what} requires a loopback address (127.0.0.1, ::1 or localhost), not ${JSON.stringify(host)}`,
  ]);
}
