import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * One line a request. Routes are logged by pattern, never by address, and nothing that a caller wrote freely is logged:
 * a path, a query and a header can hold somebody's number.
 */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: routePattern(request),
        operation: request.routeOptions.config.operation?.operationId,
        status: reply.statusCode,
        reason: request.problem?.reason,
        client: request.access?.client.id,
        emr: request.access?.ehr?.id,
        care_unit: request.access?.careUnit?.id,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });
}

export function routePattern(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}
