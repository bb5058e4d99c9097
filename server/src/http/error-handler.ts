import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isConnectionFailure } from '../db/errors.ts';
import { describeError } from '../log/describe-error.ts';
import { Problem, problemAt, unavailable } from '../problems/problem.ts';
import { problemDocument, problemMediaType } from '../problems/problem-document.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request has been answered with a problem, for the log. */
    problem?: Problem;
  }
}

/** Every failure of every kind leaves through here. */
export function addErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // The caller broke off its own upload: nobody is left to be told, and nothing is wrong here.
    if (isBrokenUpload(error, request)) return reply.hijack();
    return sendProblem(frameworkProblem(error), request, reply);
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem('route_not_found', { detail: 'There is nothing at this address.' }), request, reply),
  );
}

/** By identity with the fault of the stream: the database's own connection can fail with the same code. */
function isBrokenUpload(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.errored !== null && raw.errored === error;
}

export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.problem = problem;
  if (problem.status >= 500) {
    request.log.error({ reason: problem.reason, cause: describeError(problem.cause) }, 'request failed');
  }
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type(problemMediaType)
    .serializer(JSON.stringify)
    .send(problemDocument(problem, problem.requestId ?? request.id));
}

/** What Fastify itself refuses, by its error codes: https://fastify.dev/docs/latest/Reference/Errors/ */
export function frameworkProblem(error: FastifyError): Problem {
  if (error instanceof Problem) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('content_too_large', { detail: 'The body is larger than 1 MiB.' });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('media_type_unsupported', { detail: 'The body must be sent as application/json.' });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return bodyUnreadable('The body is empty.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return bodyUnreadable('The body is not as long as its content-length says.');
    case 'FST_ERR_BAD_URL':
      return new Problem('request_invalid', { detail: 'The path is not percent-encoded UTF-8.' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('uri_too_long', { detail: 'A part of the path is too long.' });
    default:
      if (isConnectionFailure(error)) return unavailable('database_unavailable', { cause: error });
      return new Problem('internal_error', { cause: error });
  }
}

/** What is found before the body is compared with a schema. `pointer`: JSON Pointer to the place. */
export function bodyUnreadable(detail: string, pointer = ''): Problem {
  return problemAt({ in: 'body', pointer }, 'request_invalid', detail);
}
