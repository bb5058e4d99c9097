import type { Exchange } from './exchanges.ts';

/** Hears of a request once, when it is over. `aborted`: the caller went away before the whole answer had gone out. */
export type RequestEnd = (exchange: Exchange, aborted: boolean) => void;

/**
 * One line a request. Routes are logged by pattern, never by address, and nothing that a caller wrote freely is logged:
 * a path, a query and a header can hold somebody's number.
 */
export function logRequest({ request, reply }: Exchange, aborted: boolean): void {
  request.log.info(
    {
      method: request.method,
      route: routePattern(request),
      operation: request.routeOptions.config.operation?.operationId,
      status: aborted ? undefined : reply.statusCode,
      aborted: aborted || undefined,
      reason: request.problem?.reason,
      client: request.access?.client.id,
      emr: request.access?.ehr?.id,
      care_unit: request.access?.careUnit?.id,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    },
    'request',
  );
}

export function routePattern({ routeOptions }: Exchange['request']): string {
  return routeOptions.url ?? 'unmatched';
}
