import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request and its answer, until the answer has gone out whole or the caller has. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Those of each connection, in the order in which the requests came. */
const bySocket = new WeakMap<Socket, Map<Exchange, () => void>>();

/**
 * Calls `ended` once, when the answer has gone out whole, or else when the connection has closed before that (`aborted`).
 * An answer that waits behind others of its connection (RFC 9112 section 9.3.2) hears nothing of its end from Node.
 */
export function watchExchange(exchange: Exchange, ended: (aborted: boolean) => void): void {
  const { request, reply } = exchange;
  const open = exchangesOf(request.raw.socket);
  const end = () => {
    if (open.delete(exchange)) ended(!reply.raw.writableFinished);
  };
  open.set(exchange, end);
  reply.raw.once('close', end);
}

function exchangesOf(socket: Socket): Map<Exchange, () => void> {
  const known = bySocket.get(socket);
  if (known) return known;
  const open = new Map<Exchange, () => void>();
  bySocket.set(socket, open);
  socket.once('close', () => {
    for (const end of open.values()) end();
  });
  return open;
}
