import type { FastifyRequest } from 'fastify';
import { newPatience, type Patience, withPatience } from '../db/patience.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** How long it may still wait for the database. */
    patience?: Patience;
  }
}

export function patienceOf(request: FastifyRequest): Patience {
  request.patience ??= newPatience();
  return request.patience;
}

/** Limits how long the handler waits for the database. */
export function patiently<Request extends FastifyRequest, Reply>(
  handler: (request: Request, reply: Reply) => Promise<unknown>,
): (request: Request, reply: Reply) => Promise<unknown> {
  return (request, reply) => withPatience(patienceOf(request), () => handler(request, reply));
}
