import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../config/configuration.ts';
import { Problem, unavailable } from '../problems/problem.ts';

/** Event loop delay above which new requests are rejected. */
const longestEventLoopDelayMilliseconds = 5_000;

/** Rejects requests with 503 if the gateway is overloaded, and with 429 if a client exceeds its rate limit. */
export async function addLimits(app: FastifyInstance, { requests_per_minute }: Configuration['limits']): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: longestEventLoopDelayMilliseconds,
    pressureHandler: (request, _reply, _kind, delay) => {
      // Health checks and metrics keep working under load.
      if (!request.routeOptions.config.operation) return;
      // The plugin reports infinity until its first measurement, for example after a busy start.
      if (delay !== Number.POSITIVE_INFINITY) throw unavailable('overloaded');
    },
  });
  await app.register(rateLimit, {
    // Runs after authentication, which is an onRequest hook.
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
