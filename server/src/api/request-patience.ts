import type { FastifyRequest } from 'fastify';
import { type DatabasePatience, newPatience, withPatience } from '../db/patience.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** How long it may still wait for the database. */
    patience?: DatabasePatience;
  }
}

export function patienceOf(request: FastifyRequest): DatabasePatience {
  request.patience ??= newPatience();
  return request.patience;
}

/** Limits how long the handler waits for the database. */
export function patiently<Request extends FastifyRequest, Reply>(
  handler: (request: Request, reply: Reply) => Promise<unknown>,
): (request: Request, reply: Reply) => Promise<unknown> {
  return (request, reply) => withPatience(patienceOf(request), () => handler(request, reply));
}
