import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendShown } from '../../api/add-endpoint.ts';
import { auditProblem } from '../../api/audit-problem.ts';
import { contextOf } from '../../api/context-of.ts';
import type { Representation } from '../../api/endpoint.ts';
import { within } from '../../context/work-context.ts';
import { isDatabaseFailure, mayHaveBeenSent } from '../../db/errors.ts';
import { faceRepresentation } from '../../fhir-face/face.ts';
import { describeError } from '../../log/describe-error.ts';
import { outcomeUnknownInDatabase, Problem, problemAt, unavailable } from '../../problems/problem.ts';
import { problemDocument, problemMediaType } from '../../problems/problem-document.ts';
import { linksIfBrowser, sendNotFoundPage } from '../pages/not-found.ts';
import type { TrackedMethods } from '../routes/method-not-allowed.ts';
import { isFacePath } from './each-request.ts';

const mebibyte = 1024 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** The problem sent in the response, for the request log. */
    problem?: Problem;
  }
}

/** Turns every error, and a request without a route, into a problem response. */
export function addErrorHandler(app: FastifyInstance, methods: Pick<TrackedMethods, 'withoutRoute'>): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // The caller disconnected during its upload, so nobody receives the response.
    if (isAbortedUpload(error, request)) return reply.hijack();
    const { bodyLimit, config } = request.routeOptions;
    // What a write reads or stores before it begins changes nothing.
    const isUnknown = mayHaveBeenSent(error) && request.hasBegun === true;
    const problem = isUnknown
      ? outcomeUnknownInDatabase(error)
      : frameworkProblem(error, bodyLimit, config.endpoint?.form);
    const auditing = within(contextOf(request), () => auditProblem(request, problem));
    if (!auditing) return sendProblem(problem, request, reply);
    return auditing.then((sent) => sendProblem(sent, request, reply));
  });
  app.setNotFoundHandler((request, reply) => sendProblem(methods.withoutRoute(request), request, reply));
}

/** Compares the error objects, because a database connection can fail with the same code. */
function isAbortedUpload(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.errored !== null && raw.errored === error;
}

/**
 * Logs a problem that is no fault of the caller. One of an EHR is no error for each request: the EHR has a line when it becomes
 * unavailable, and one a minute with their count.
 */
export function logFailure(problem: Problem, request: FastifyRequest): void {
  // Nothing failed if a write was not begun because its caller is gone.
  const isGone = problem.reason === 'overloaded' && request.raw.socket.destroyed;
  if (problem.status < 500 || problem.reason === 'operation_unsupported' || isGone) return;
  const isOfEhr = problem.origin === 'ehr' && problem.reason !== 'partially_applied';
  if (isOfEhr && problem.reason !== 'ehr_paused') request.access?.ehr?.requestFailed(problem.cause);
  const level = isOfEhr ? 'info' : 'error';
  request.log[level]({ reason: problem.reason, cause: describeError(problem.cause) }, 'request failed');
}

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  request.problem = problem;
  logFailure(problem, request);
  const standard = representationOf(request);
  if (standard) return sendShown(standard, standard.showProblem(problem, request), reply);
  const links = problem.reason === 'route_not_found' ? linksIfBrowser(request) : undefined;
  if (links) return sendNotFoundPage(links, reply);
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type(problemMediaType)
    .serializer(JSON.stringify)
    .send(problemDocument(problem, problem.requestId ?? request.id));
}

/** The representation of a request, also of one that no endpoint of a standard matches. `undefined`: the native one. */
function representationOf({ routeOptions, url }: FastifyRequest): Representation | undefined {
  if (routeOptions.config?.endpoint) return routeOptions.config.endpoint.representation;
  return isFacePath(url) ? faceRepresentation() : undefined;
}

/**
 * Maps Fastify's error codes to problems: https://fastify.dev/docs/latest/Reference/Errors/
 *
 * @param bodyLimit the route's limit for bodies, in bytes
 * @param form set if the endpoint also takes `multipart/form-data`
 */
export function frameworkProblem(error: FastifyError, bodyLimit = mebibyte, form?: unknown): Problem {
  if (error instanceof Problem) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('content_too_large', {
        detail: `The body is larger than ${bodyLimit / mebibyte} MiB.${form ? ' Send larger content as multipart/form-data.' : ''}`,
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problemAt(
        { in: 'header', header: 'content-type' },
        'media_type_unsupported',
        `The content type must be application/json${form ? ' or multipart/form-data' : ''}.`,
      );
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return bodyUnreadable('The body is empty.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return bodyUnreadable('The length of the body differs from its content-length header.');
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE': // of QUERY, which no route takes
      return new Problem('route_not_found', { detail: 'No route matches this path.' });
    case 'FST_ERR_BAD_URL':
      return new Problem('request_invalid', { detail: 'The path is not valid percent-encoded UTF-8.' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('uri_too_long', { detail: 'A path segment is too long.' });
    default:
      if (isDatabaseFailure(error)) return unavailable('database_unavailable', { cause: error });
      return new Problem('internal_error', { cause: error });
  }
}

/** An error found before schema validation. `pointer` is a JSON Pointer into the body. */
export function bodyUnreadable(detail: string, pointer = ''): Problem {
  const fault = { place: { in: 'body', pointer }, reason: 'request_invalid', detail, flaw: 'structure' } as const;
  return new Problem('request_invalid', { detail, faults: [fault] });
}
