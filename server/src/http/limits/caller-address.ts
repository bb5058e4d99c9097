import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/**
 * The IP address of the caller: as reported by the nearest trusted proxy, otherwise that of the connection. Header text
 * that is not an IP address is ignored.
 */
export function callerAddress({ ip, raw }: FastifyRequest): string {
  const { remoteAddress } = raw.socket;
  return plain(isIP(ip) === 0 ? (remoteAddress ?? '') : ip);
}

/**
 * The address by which limits count: an IPv4 address, or the /64 network that one IPv6 subscriber commonly has (RFC
 * 6177).
 */
export function callerOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.fromByteArray([...parsed.toByteArray().slice(0, 8), ...Array.from({ length: 8 }, () => 0)])}/64`;
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
