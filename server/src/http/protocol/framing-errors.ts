import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { problemDocument, problemMediaType } from '../../problems/problem-document.ts';
import type { Stalls } from '../limits/waiting-callers.ts';
import { stoodStill } from '../limits/waiting-callers.ts';
import { type End, type Exchange, endExchange, onceAnswered, unfinishedExchange } from '../observed/exchanges.ts';
import { fixedHeaders, longestUrl } from './each-request.ts';
import { closeInStages } from './staged-close.ts';

/** Called after an invalid request was rejected and its connection has ended. */
export type RejectionEnd = (requestId: string, problem: Problem, end: End) => void;

/** Connections that were already rejected. Node reports the same error again for every further byte. */
const faulty = new WeakSet<Socket>();

/**
 * Responds to errors that Node's HTTP parser reports before there is a request, or within a body. Writes the problem
 * document directly to the socket, after the responses to earlier requests on the connection.
 */
export function answerFramingError(
  error: ConnectionError,
  socket: Socket,
  { pauses, ended }: { readonly pauses: Stalls; readonly ended: RejectionEnd },
): void {
  if (faulty.has(socket)) return;
  faulty.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const unfinished = unfinishedExchange(socket);
  if (unfinished?.reply.raw.headersSent) onceAnswered(socket, undefined, () => closeInStages(socket));
  // The caller closed its side of the connection within a body.
  else if (unfinished && error.code === 'HPE_INVALID_EOF_STATE')
    onceAnswered(socket, unfinished, () => socket.destroy());
  else onceAnswered(socket, unfinished, () => reject(asProblem(error, pauses), socket, unfinished, ended));
}

function reject(problem: Problem, socket: Socket, unfinished: Exchange | undefined, ended: RejectionEnd): void {
  const requestId = unfinished?.request.id ?? randomUUID();
  const end = { aborted: !socket.writable, status: problem.status };
  if (socket.writable) closeInStages(socket, written(problem, requestId));
  if (unfinished) {
    unfinished.request.problem = problem;
    endExchange(unfinished, end);
  } else {
    ended(requestId, problem, end);
  }
}

function written(problem: Problem, requestId: string): string {
  const body = JSON.stringify(problemDocument(problem, requestId));
  const headers = {
    ...fixedHeaders,
    ...problem.headers,
    'x-request-id': requestId,
    'content-type': problemMediaType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`;
}

function asProblem({ code, rawPacket }: ConnectionError, pauses: Stalls): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    // Fastify's type says JSON form of a buffer; the value is a buffer.
    const requestLine = rawPacket ? Buffer.from(rawPacket as unknown as Buffer).indexOf('\r\n') : 0;
    const isLongUrl = requestLine === -1 || requestLine > longestUrl;
    return isLongUrl ? new Problem('uri_too_long') : new Problem('headers_too_large');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    // After a pause, Node looks at the clock before it reads what has arrived.
    if (pauses.hadPauseBefore(performance.now())) return stoodStill();
    return new Problem('request_invalid', { detail: 'The request did not arrive in time.' });
  }
  return new Problem('request_invalid', { detail: 'The data received is not a valid HTTP/1.1 request.' });
}
