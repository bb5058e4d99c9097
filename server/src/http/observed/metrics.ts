import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Milliseconds between two looks at the event loop. At the default of 10, an idle process spends half of its time on them. */
const eventLoopMonitoringPrecision = 100;

/** Serves Prometheus metrics at `/metrics`. */
export function addMetrics(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
