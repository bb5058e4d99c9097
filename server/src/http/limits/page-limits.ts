import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { hashOfToken } from '../../secrets/link-token.ts';
import { callerAddress, callerOf } from './caller-address.ts';

type Hook = (request: FastifyRequest) => Promise<void>;

/** Limits the requests to pages per minute, for one address and for one link. Returns the hook for their routes. */
export function limitPages(app: FastifyInstance, max: number): Hook {
  return limitEach(app, [
    [max, addressOf],
    [max, tokenOf],
  ]);
}

/** Limits the requests to pages per minute, for one address. Returns the hook for their routes. */
export function limitAddresses(app: FastifyInstance, max: number): Hook {
  return limitEach(app, [[max, addressOf]]);
}

/**
 * Limits delivery receipts per minute. A provider sends all of its receipts from few addresses. Returns the hook for their
 * route.
 */
export function limitReceipts(
  app: FastifyInstance,
  max: { readonly perAddress: number; readonly perToken: number },
): Hook {
  return limitEach(app, [
    [max.perAddress, addressOf],
    [max.perToken, tokenOf],
  ]);
}

function addressOf(request: FastifyRequest): string {
  return callerOf(callerAddress(request));
}

function tokenOf({ params }: FastifyRequest): string {
  return hashOfToken((params as { token: string }).token).toString('base64');
}

function limitEach(
  app: FastifyInstance,
  limits: readonly (readonly [max: number, keyGenerator: (request: FastifyRequest) => string])[],
): Hook {
  const checks = limits.map(([max, keyGenerator]) =>
    app.createRateLimit({ max, timeWindow: 60_000, keyGenerator, allowList: [] }),
  );
  return async (request) => {
    for (const check of checks) {
      const found = await check(request);
      if (found.isAllowed || !found.isExceeded) continue;
      throw new Problem('rate_limited', { headers: { 'retry-after': String(found.ttlInSeconds) } });
    }
  };
}
