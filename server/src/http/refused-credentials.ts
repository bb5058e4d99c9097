import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { ClientRegistry } from '../clients/client-registry.ts';
import { createFailedCredentials } from '../clients/failed-credentials.ts';
import { Problem } from '../problems/problem.ts';
import { callerAddress, callerOf } from './caller-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose credentials were refused, for the log. */
    refusedCaller?: { readonly address: string; readonly claimedClient: string | undefined };
  }
}

interface Dependencies {
  readonly clients: ClientRegistry;
  readonly metrics: Registry;
  /** Wrong secrets before more of them have to wait. */
  readonly failedCredentials: number;
}

/** What is said of a client id and a secret, as the headers have them, that do not fit. */
export type Refuse = (request: FastifyRequest, id: unknown, secret: unknown) => Problem;

/** 401 for wrong credentials and for missing ones alike, 429 for wrong ones that come too often. */
export function refusals({ clients, metrics, failedCredentials }: Dependencies): Refuse {
  const failures = createFailedCredentials(failedCredentials);
  const refused = new Counter({
    name: 'crossward_credentials_refused_total',
    help: 'Requests without the right credentials: missing or wrong (401), or wrong and too many (429, slowed).',
    labelNames: ['kind'],
    registers: [metrics],
  });
  return (request, id, secret) => {
    const address = callerAddress(request);
    const isAttempt = typeof id === 'string' && typeof secret === 'string';
    request.refusedCaller = { address, claimedClient: isAttempt && clients.has(id) ? id : undefined };
    const wait = isAttempt ? failures.failed(callerOf(address), id) : 0;
    refused.inc({ kind: wait > 0 ? 'slowed' : isAttempt ? 'wrong' : 'missing' });
    return wait > 0 ? slowedDown(failedCredentials, Math.ceil(wait / 1000)) : invalid();
  };
}

function invalid(): Problem {
  return new Problem('credentials_invalid', {
    headers: { 'www-authenticate': 'Crossward headers="x-service-client-id x-service-client-secret"' },
  });
}

function slowedDown(limit: number, seconds: number): Problem {
  return new Problem('rate_limited', {
    detail: 'Too many wrong credentials have come from this address or for this client id. Right ones are taken.',
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
