import { BlockList, isIP } from 'node:net';
import { ConfigurationError } from '../startup/configuration-error.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** `localhost`, 127.0.0.0/8 and `::1` (RFC 6761, RFC 6890): nobody reaches them from another machine. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/**
 * For what shows codes or secrets to whoever asks.
 *
 * @throws {ConfigurationError} unless the gateway listens on a loopback address. `what` begins the sentence.
 */
export function requireLoopback(host: string, what: string): void {
  if (isLoopback(host)) return;
  throw new ConfigurationError([
    `HOST: ${what} listens on a loopback address only (127.0.0.1, ::1 or localhost), not on ${JSON.stringify(host)}`,
  ]);
}
