import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import { type RequestEnd, routePattern } from './request-log.ts';

/** Prometheus metrics at `/metrics`. */
export function addMetrics(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Counts requests as they end. Labels are route patterns, methods and statuses: nothing of a request itself. */
export function createRequestMetrics(registry: Registry): RequestEnd {
  const duration = new Histogram({
    name: 'crossward_http_request_duration_seconds',
    help: 'Time from the head of a request to the last byte of its answer, or until the caller went away (aborted).',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return ({ request, reply }, aborted) => {
    const labels = {
      method: request.method,
      route: routePattern(request),
      status: aborted ? 'aborted' : reply.statusCode,
    };
    duration.observe(labels, reply.elapsedTime / 1000);
  };
}
