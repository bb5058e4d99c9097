import type { FastifyRequest } from 'fastify';
import { newPatience, type Patience } from '../db/patience.ts';

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
