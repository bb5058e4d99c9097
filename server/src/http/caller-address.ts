import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/**
 * The IP address of the caller: what the nearest trusted proxy says, else that of the connection. Never the text of a
 * header that is no address.
 */
export function callerAddress({ ip, raw }: FastifyRequest): string {
  const { remoteAddress } = raw.socket;
  return plain(isIP(ip) === 0 ? (remoteAddress ?? '') : ip);
}

/** What is counted as one caller: an IPv4 address, or the /64 that an IPv6 subscriber commonly has to itself (RFC 6177). */
export function callerOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.fromByteArray([...parsed.toByteArray().slice(0, 8), ...Array.from({ length: 8 }, () => 0)])}/64`;
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
