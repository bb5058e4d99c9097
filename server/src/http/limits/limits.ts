import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Counted, CountRequest } from '../../clients/request-budget.ts';
import { Problem, unavailable } from '../../problems/problem.ts';

/** Event loop delay above which new requests are rejected. */
const longestEventLoopDelayMilliseconds = 5_000;

/** Rejects requests with 503 if the gateway is overloaded, and with 429 if a client exceeds its rate limit. */
export async function addLimits(
  app: FastifyInstance,
  countRequest: CountRequest,
  eventLoop = watchEventLoop(),
): Promise<void> {
  app.addHook('onClose', async () => eventLoop.stop());
  app.addHook('onRequest', (request, _reply, done) => {
    // Health checks and metrics keep working under load.
    const isRejected =
      eventLoop.delayMilliseconds() > longestEventLoopDelayMilliseconds && request.routeOptions.config.endpoint;
    done(isRejected ? unavailable('overloaded') : undefined);
  });
  // Runs after authentication, which is an onRequest hook.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (!request.access) return done();
    const counting = limitClient(countRequest, request.access.client.id, reply);
    // Usually at once, because each promise costs time.
    if (counting) counting.then(() => done(), done);
    else done();
  });
  // Limits of pages by address, which each process counts for itself: see `page-limits.ts`.
  await app.register(rateLimit, { global: false });
}

/**
 * Counts a request of a client, and sets the fields `RateLimit-*` of the response.
 *
 * @returns nothing if it was counted at once
 * @throws Problem `rate_limited`
 */
export function limitClient(count: CountRequest, clientId: string, reply: FastifyReply): Promise<void> | undefined {
  const counted = count(clientId);
  if (counted instanceof Promise) return counted.then((it) => tell(it, reply));
  tell(counted, reply);
  return undefined;
}

function tell({ isAllowed, limit, remaining, reset }: Counted, reply: FastifyReply): void {
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset });
  if (!isAllowed) throw new Problem('rate_limited', { headers: { 'retry-after': String(reset) } });
}

/** Milliseconds between two looks at the event loop. Each wakes an idle process. */
const interval = 1_000;

/**
 * Measures how far this process is behind with its work: by how many milliseconds the last look came late.
 *
 * @internal for the test
 */
export function watchEventLoop() {
  let delay = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delay = Math.max(0, now - last - interval);
    last = now;
  }, interval).unref();
  return { delayMilliseconds: () => delay, stop: () => clearInterval(timer) };
}
