import type { FastifyInstance } from 'fastify';
import { Problem } from './problem.ts';
import { problemPage } from './problem-page.ts';
import { type Reason, reasons } from './reasons.ts';

/** `/problems/{reason}`: what `type` of a problem document points to. */
export function addProblemPages(app: FastifyInstance): void {
  app.get('/problems/:reason', async (request, reply) => {
    const { reason } = request.params as { reason: string };
    if (!Object.hasOwn(reasons, reason)) throw new Problem('route_not_found');
    return reply.type('text/html; charset=utf-8').send(problemPage(reason as Reason));
  });
}
