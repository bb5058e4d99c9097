import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashOfToken } from '../messages/page-links.ts';
import { Problem } from '../problems/problem.ts';
import { callerAddress, callerOf } from './caller-address.ts';

type Hook = (request: FastifyRequest) => Promise<void>;

/** Limits the requests to pages per minute, for one address and for one link. Returns the hook for their routes. */
export function limitPages(app: FastifyInstance, max: number): Hook {
  return limitEach(app, max, [
    addressOf,
    ({ params }) => hashOfToken((params as { token: string }).token).toString('base64'),
  ]);
}

/** Limits the requests to pages per minute, for one address. Returns the hook for their routes. */
export function limitAddresses(app: FastifyInstance, max: number): Hook {
  return limitEach(app, max, [addressOf]);
}

function addressOf(request: FastifyRequest): string {
  return callerOf(callerAddress(request));
}

function limitEach(app: FastifyInstance, max: number, keys: readonly ((request: FastifyRequest) => string)[]): Hook {
  const checks = keys.map((keyGenerator) =>
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
