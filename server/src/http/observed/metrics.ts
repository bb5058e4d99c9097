import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import type { End, Exchange } from './exchanges.ts';
import { routePattern } from './request-log.ts';

/** Milliseconds between two looks at the event loop. At the default of 10, an idle process spends half of its time on them. */
const eventLoopMonitoringPrecision = 100;

/** Serves Prometheus metrics at `/metrics`. */
export function addMetrics(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Records requests when they end. */
export interface RequestMetrics {
  ended(exchange: Exchange, end: End): void;
  /** Records a rejected invalid request, which has no route and no method. */
  rejected(end: End): void;
}

/** Labels are methods, route patterns and statuses, never values from a request. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const duration = new Histogram({
    name: 'crossward_http_request_duration_seconds',
    help: 'Time from the request head to the last byte of the response, or until the caller disconnected (aborted).',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const observe = (method: string, route: string, { aborted, status }: End, seconds: number) =>
    duration.observe({ method, route, status: aborted ? 'aborted' : status }, seconds);
  return {
    ended: ({ request, reply }, end) => observe(request.method, routePattern(request), end, reply.elapsedTime / 1000),
    rejected: (end) => observe('none', 'unmatched', end, 0),
  };
}
