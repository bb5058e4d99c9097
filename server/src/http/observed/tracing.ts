import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type RequestSpan, tracing } from '../../telemetry/tracing.ts';
import type { End, Exchange } from './exchanges.ts';
import { routePattern } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if OpenTelemetry is on. */
    span?: RequestSpan;
  }
}

/** Begins a span for each request, if OpenTelemetry is on when the application is built. */
export function addTracing(app: FastifyInstance): void {
  if (!tracing()) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const span = tracing()?.request(request.headers.traceparent);
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
export function endRequestSpan({ request }: Exchange, { aborted, status }: End): void {
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
