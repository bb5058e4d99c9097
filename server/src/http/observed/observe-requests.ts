import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import type { Problem } from '../../problems/problem.ts';
import { type RequestSpan, tracing } from '../../telemetry/tracing.ts';
import { type End, type Exchange, watchExchange } from './exchanges.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if OpenTelemetry is on. */
    span?: RequestSpan;
  }
}

/**
 * Notes each request when it ends: a line in the log, its time, and a span if OpenTelemetry is on. Labels of metrics are methods,
 * route patterns and statuses, never values from a request.
 *
 * @param noteRequest called for a request that can begin work
 */
export function createRequestObserver(registry: Registry, noteRequest: () => void = () => undefined) {
  const duration = new Histogram({
    name: 'crossward_http_request_duration_seconds',
    help: 'Time from the request head to the last byte of the response, or until the caller disconnected (aborted).',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const observe = (method: string, route: string, { aborted, status }: End, seconds: number) =>
    duration.observe({ method, route, status: aborted ? 'aborted' : status }, seconds);
  const watch = (request: FastifyRequest, reply: FastifyReply) => {
    const exchange = { request, reply };
    watchExchange(exchange, (end) => {
      logRequest(exchange, end);
      observe(request.method, routePattern(request), end, reply.elapsedTime / 1000);
      endSpan(request, end);
    });
  };
  return {
    watch,
    /** The first hook. */
    onRequest(request: FastifyRequest, reply: FastifyReply, done: () => void) {
      watch(request, reply);
      if (!isOfMonitoring(request)) noteRequest();
      done();
    },
    /** Notes a rejected invalid request, which has no route and no method. */
    rejected(log: FastifyBaseLogger, requestId: string, problem: Problem, end: End) {
      log.info({ request_id: requestId, ...outcome(end), reason: problem.reason }, 'request');
      observe('none', 'unmatched', end, 0);
    },
  };
}

/**
 * Logs one line per request. Logs the route pattern instead of the URL and no free text from the caller, because paths,
 * queries and headers can contain personal numbers.
 */
function logRequest({ request, reply }: Exchange, end: End): void {
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

/** Probes and scrapes begin no work. */
function isOfMonitoring({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return url === '/metrics' || url.startsWith('/health/');
}

function outcome({ aborted, status }: End): { aborted: true } | { status: number } {
  return aborted ? { aborted } : { status };
}

function routePattern({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? 'unmatched';
}

/** Begins a span for each request, if OpenTelemetry is on when the application is built. */
export function addTracing(app: FastifyInstance): void {
  if (!tracing) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const span = tracing?.request(request.headers.traceparent);
    if (!span) return done();
    request.span = span;
    span.within(done);
  });
  // The body has arrived in events of the connection, outside the span.
  app.addHook('preHandler', within);
  app.addHook('preValidation', within);
}

function within({ span }: FastifyRequest, _reply: unknown, done: () => void): void {
  if (span) span.within(done);
  else done();
}

/** Ends the span of the request, with the route pattern in place of the URL. */
function endSpan(request: FastifyRequest, { aborted, status }: End): void {
  const { span, access, problem } = request;
  if (!span) return;
  const route = routePattern(request);
  const failure = aborted ? 'aborted' : status >= 500 ? (problem?.reason ?? String(status)) : undefined;
  span.end(
    `${request.method} ${route}`,
    {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': aborted ? undefined : status,
      'crossward.operation': request.routeOptions.config.endpoint?.operationId,
      'crossward.reason': problem?.reason,
      'crossward.emr': access?.ehr?.id,
      'crossward.care_unit': access?.careUnit?.id,
    },
    failure,
  );
}
