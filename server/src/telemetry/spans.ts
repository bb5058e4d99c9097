import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { hasNationalNumber } from '../identifiers/number-in-text.ts';
import { describeStatement } from './statement-name.ts';
import type { Attributes, CallSpan, RequestSpan, StatementSpan, Tracing } from './tracing.ts';

/** Traces with OpenTelemetry. Sets no global of its API, and changes no other module. */
export function createTracing(tracer: Tracer): Tracing {
  const active = new AsyncLocalStorage<Context>();
  const contextOf = (span: Span, parent: Context) => trace.setSpan(parent, span);
  const end = (span: Span, attributes: Attributes, failure: string | undefined) => {
    // The SDK ignores attributes that are undefined, but its types do not.
    span.setAttributes(attributes as Record<string, string | number>);
    if (failure !== undefined) {
      span.setAttribute('error.type', failure);
      // Without a message: it could contain a value.
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };
  return {
    request(traceparent): RequestSpan {
      const parent = callersContext(traceparent);
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
      const context = contextOf(span, parent);
      return {
        traceId: span.spanContext().traceId,
        within: (work) => active.run(context, work),
        end(name, attributes, failure) {
          span.updateName(name);
          end(span, attributes, failure);
        },
      };
    },
    call(name, attributes): CallSpan {
      const parent = active.getStore() ?? ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: { ...attributes } }, parent);
      const context = contextOf(span, parent);
      return {
        within: (work) => active.run(context, work),
        end: (outcome) => end(span, { 'crossward.outcome': outcome }, outcome === 'ok' ? undefined : outcome),
      };
    },
    statement(text): StatementSpan | undefined {
      const parent = active.getStore();
      if (!parent) return undefined;
      const { operation, target } = describeStatement(text);
      const name = target === undefined ? operation : `${operation} ${target}`;
      const attributes = {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.collection.name': target,
      };
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT }, parent);
      return { end: (failure) => end(span, attributes, failure) };
    },
    headers() {
      const context = active.getStore();
      const span = context && trace.getSpanContext(context);
      if (!span) return {};
      const flags = (span.traceFlags & 1).toString(16).padStart(2, '0');
      return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}` };
    },
  };
}

/**
 * The trace of the caller, if its header is valid. Its ids are passed on and exported, so they must not carry a national
 * number: of random ones, a few in a hundred have such digits by chance. `tracestate` and `baggage` are free text, and ignored.
 */
function callersContext(header: unknown): Context {
  const parent = typeof header === 'string' ? parseTraceParent(header) : null;
  if (!parent || hasNationalNumber(`${parent.traceId}${parent.spanId}`)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}
