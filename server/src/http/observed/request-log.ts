import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Problem } from '../../problems/problem.ts';
import type { End, Exchange } from './exchanges.ts';

/**
 * Logs one line per request. Logs the route pattern instead of the URL and no free text from the caller, because paths,
 * queries and headers can contain personal numbers.
 */
export function logRequest({ request, reply }: Exchange, end: End): void {
  request.log.info(
    {
      method: request.method,
      route: routePattern(request),
      operation: request.routeOptions.config.endpoint?.operationId,
      ...outcome(end),
      reason: request.problem?.reason,
      operation_id: request.context?.access?.writeId,
      client: request.access?.client.id,
      claimed_client: request.rejectedCaller?.claimedClient,
      address: request.rejectedCaller?.address,
      emr: request.access?.ehr?.id,
      care_unit: request.access?.careUnit?.id,
      trace_id: request.span?.traceId,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    },
    'request',
  );
}

/** Logs one line for a rejected invalid request. */
export function logRejection(log: FastifyBaseLogger, requestId: string, problem: Problem, end: End): void {
  log.info({ request_id: requestId, ...outcome(end), reason: problem.reason }, 'request');
}

function outcome({ aborted, status }: End): { aborted: true } | { status: number } {
  return aborted ? { aborted } : { status };
}

export function routePattern({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? 'unmatched';
}
