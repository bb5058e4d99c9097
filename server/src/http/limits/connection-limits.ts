import type { FastifyInstance } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import { callerOf } from './caller-address.ts';

interface ConnectionLimits {
  readonly maxConnections: number;
  /** Does not apply to trusted proxies. */
  readonly maxConnectionsPerAddress: number;
  isTrustedProxy(address: string | undefined): boolean;
}

/** Closes connections beyond the limits without reading from them. */
export function addConnectionLimits(app: FastifyInstance, limits: ConnectionLimits, registry: Registry): void {
  const rejected = new Counter({
    name: 'crossward_http_connections_rejected_total',
    help: 'Connections closed because a limit was reached: all (total) or address (per address).',
    labelNames: ['limit'],
    registers: [registry],
  });
  const connections = new Map<string, number>();
  app.server.maxConnections = limits.maxConnections;
  app.server.on('drop', () => rejected.inc({ limit: 'all' }));
  app.server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || limits.isTrustedProxy(remoteAddress)) return;
    const caller = callerOf(remoteAddress);
    const others = connections.get(caller) ?? 0;
    if (others >= limits.maxConnectionsPerAddress) {
      rejected.inc({ limit: 'address' });
      socket.destroy();
      return;
    }
    connections.set(caller, others + 1);
    socket.once('close', () => {
      const left = (connections.get(caller) ?? 1) - 1;
      if (left > 0) connections.set(caller, left);
      else connections.delete(caller);
    });
  });
}
