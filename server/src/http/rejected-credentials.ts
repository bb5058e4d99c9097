import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { ClientRegistry } from '../clients/client-registry.ts';
import { createFailedCredentials } from '../clients/failed-credentials.ts';
import { Problem } from '../problems/problem.ts';
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
  /** Number of incorrect credentials that are allowed before further ones are throttled. */
  readonly failedCredentials: number;
}

/** Makes the problem for rejected credentials. `id` and `secret` are the raw header values. */
export type Reject = (request: FastifyRequest, id: unknown, secret: unknown) => Problem;

/** 401 for incorrect and for missing credentials, 429 for incorrect ones that are throttled. */
export function rejections({ clients, metrics, failedCredentials }: Dependencies): Reject {
  const failures = createFailedCredentials(failedCredentials);
  const rejected = new Counter({
    name: 'crossward_credentials_rejected_total',
    help: 'Requests rejected for their credentials: missing or incorrect (401), or throttled after too many incorrect ones (429).',
    labelNames: ['kind'],
    registers: [metrics],
  });
  return (request, id, secret) => {
    const address = callerAddress(request);
    const isAttempt = typeof id === 'string' && typeof secret === 'string';
    request.rejectedCaller = { address, claimedClient: isAttempt && clients.has(id) ? id : undefined };
    const wait = isAttempt ? failures.failed(callerOf(address), id) : 0;
    rejected.inc({ kind: wait > 0 ? 'slowed' : isAttempt ? 'wrong' : 'missing' });
    return wait > 0 ? throttled(failedCredentials, Math.ceil(wait / 1000)) : invalid();
  };
}

function invalid(): Problem {
  return new Problem('credentials_invalid', {
    headers: { 'www-authenticate': 'Crossward headers="x-service-client-id x-service-client-secret"' },
  });
}

function throttled(limit: number, seconds: number): Problem {
  return new Problem('rate_limited', {
    detail:
      'Too many incorrect secrets were sent from this address or for this client id. The correct secret still works.',
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
