import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { Problem } from '../problems/problem.ts';
import { problemDocument, problemMediaType } from '../problems/problem-document.ts';
import { everyAnswer, longestUrl } from './headers.ts';

/** What node refuses before there is a request: the same problem documents, written by hand onto the socket. */
export function answerFramingError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = asProblem(error);
  const requestId = randomUUID();
  const body = JSON.stringify(problemDocument(problem, requestId));
  const headers = {
    ...everyAnswer,
    'x-request-id': requestId,
    'content-type': problemMediaType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
}

function asProblem({ code, rawPacket }: ConnectionError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    // Typed as the JSON form of a buffer, and a buffer in fact.
    const requestLine = rawPacket ? Buffer.from(rawPacket as unknown as Buffer).indexOf('\r\n') : 0;
    const isLongUrl = requestLine === -1 || requestLine > longestUrl;
    return isLongUrl ? new Problem('uri_too_long') : new Problem('headers_too_large');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request_invalid', { detail: 'The request did not arrive in time.' });
  }
  return new Problem('request_invalid', { detail: 'This is not an HTTP/1.1 request.' });
}
