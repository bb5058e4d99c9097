import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../config/configuration.ts';
import { Problem, unavailable } from '../problems/problem.ts';

/** How long the event loop may stand still before new requests are turned away. */
const longestEventLoopDelayMilliseconds = 5_000;

/** Turns requests away before they can do harm: 503 when the gateway cannot keep up, 429 for a client that asks too much. */
export async function addLimits(app: FastifyInstance, { requests_per_minute }: Configuration['limits']): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: longestEventLoopDelayMilliseconds,
    pressureHandler: (request, _reply, _kind, delay) => {
      // Whoever watches the gateway should see that it is busy, not that it is dead.
      if (!request.routeOptions.config.operation) return;
      // Infinite is what the plugin says when it has measured nothing yet, after a busy start.
      if (delay !== Number.POSITIVE_INFINITY) throw unavailable('overloaded');
    },
  });
  await app.register(rateLimit, {
    // After the credentials have been checked, which happens on request.
    hook: 'preParsing',
    max: requests_per_minute,
    timeWindow: 60_000,
    enableDraftSpec: true,
    keyGenerator: (request) => request.access?.client.id ?? '',
    allowList: (request) => request.access === undefined,
    errorResponseBuilder: (_request, { ttl }) =>
      new Problem('rate_limited', { headers: { 'retry-after': String(Math.ceil(ttl / 1000)) } }),
  });
}
