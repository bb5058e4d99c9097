import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { ClientRegistry } from '../../clients/client-registry.ts';
import type { CountFailure } from '../../clients/failed-credentials.ts';
import { Problem } from '../../problems/problem.ts';
import { callerAddress, callerOf } from './caller-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the credentials were rejected, for the request log. */
    rejectedCaller?: { readonly address: string; readonly claimedClient: string | undefined };
  }
}

interface Dependencies {
  readonly clients: ClientRegistry;
  readonly metrics: Registry;
  readonly countFailure: CountFailure;
  /** Number of incorrect credentials that are allowed before further ones are throttled. */
  readonly failedCredentials: number;
}

/** Makes the problems for rejected credentials: 401, or 429 for incorrect ones that are throttled. */
export interface Rejections {
  /** The raw values of the headers. */
  ofHeaders(request: FastifyRequest, id: unknown, secret: unknown): Promise<Problem>;
  /** Tokens that have expired or whose client is gone were correct once, and are not counted. */
  ofToken(request: FastifyRequest, why: 'invalid' | 'expired' | 'ended'): Promise<Problem>;
  /**
   * Counts a wrong assertion. Returns a problem if it is throttled.
   *
   * @param clientId the client that it claims to be from
   */
  ofAssertion(request: FastifyRequest, clientId: string | undefined): Promise<Problem | undefined>;
}

export function rejections({ clients, metrics, countFailure, failedCredentials }: Dependencies): Rejections {
  const rejected = new Counter({
    name: 'crossward_credentials_rejected_total',
    help: 'Requests rejected for their credentials: missing or incorrect (401), or throttled after too many incorrect ones (429).',
    labelNames: ['kind'],
    registers: [metrics],
  });

  /** Returns the problem if further ones are throttled. */
  async function count(request: FastifyRequest, clientId: string | undefined): Promise<Problem | undefined> {
    const address = callerAddress(request);
    const isClient = clientId !== undefined && clients.has(clientId);
    request.rejectedCaller = { address, claimedClient: isClient ? clientId : undefined };
    const wait = await countFailure(callerOf(address), clientId);
    rejected.inc({ kind: wait > 0 ? 'slowed' : 'wrong' });
    return wait > 0 ? throttled(failedCredentials, Math.ceil(wait / 1000)) : undefined;
  }

  return {
    async ofHeaders(request, id, secret) {
      if (typeof id === 'string' && typeof secret === 'string') return (await count(request, id)) ?? missing();
      request.rejectedCaller = { address: callerAddress(request), claimedClient: undefined };
      rejected.inc({ kind: 'missing' });
      return missing();
    },
    async ofToken(request, why) {
      if (why === 'invalid') return (await count(request, undefined)) ?? tokenProblem(why);
      request.rejectedCaller = { address: callerAddress(request), claimedClient: undefined };
      rejected.inc({ kind: 'wrong' });
      return tokenProblem(why);
    },
    ofAssertion: count,
  };
}

function missing(): Problem {
  return new Problem('credentials_invalid', {
    // Clients of SMART take the first one.
    // `Bearer` must have a parameter: https://www.rfc-editor.org/rfc/rfc6750#section-3
    headers: {
      'www-authenticate': 'Bearer realm="Crossward", Crossward headers="x-service-client-id x-service-client-secret"',
    },
  });
}

const tokenTexts = {
  invalid: 'The access token is not one of this gateway.',
  expired: 'The access token has expired. Get a new one.',
  ended: 'The client of the access token is revoked, or has no keys any more.',
};

/** RFC 6750, section 3.1. */
function tokenProblem(why: keyof typeof tokenTexts): Problem {
  const detail = tokenTexts[why];
  return new Problem('credentials_invalid', {
    detail,
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${detail}"` },
  });
}

function throttled(limit: number, seconds: number): Problem {
  return new Problem('rate_limited', {
    detail:
      'Too many incorrect credentials were sent from this address or for this client id. The correct ones still work.',
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
