import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The address at which this machine reaches the gateway, for one without a public address. Call it once the gateway listens. */
export function loopbackAddress({ server }: FastifyInstance): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}
