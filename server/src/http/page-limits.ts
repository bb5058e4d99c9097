import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashOfToken } from '../confirmations/page-links.ts';
import { Problem } from '../problems/problem.ts';
import { callerAddress, callerOf } from './caller-address.ts';

/** Limits the requests to pages per minute, for one address and for one link. Returns the hook for their routes. */
export function limitPages(app: FastifyInstance, max: number): (request: FastifyRequest) => Promise<void> {
  const limit = (keyGenerator: (request: FastifyRequest) => string) =>
    app.createRateLimit({ max, timeWindow: 60_000, keyGenerator, allowList: [] });
  const checks = [
    limit((request) => callerOf(callerAddress(request))),
    limit(({ params }) => hashOfToken((params as { token: string }).token).toString('base64')),
  ];
  return async (request) => {
    for (const check of checks) {
      const found = await check(request);
      if (found.isAllowed || !found.isExceeded) continue;
      throw new Problem('rate_limited', { headers: { 'retry-after': String(found.ttlInSeconds) } });
    }
  };
}
