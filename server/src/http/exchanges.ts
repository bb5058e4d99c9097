import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request and its answer, until the answer has gone out whole or the caller has. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** How a request ended; `aborted`: the caller went away before the whole answer had gone out. */
export interface End {
  readonly aborted: boolean;
  readonly status: number;
}

interface Connection {
  /** In the order in which the requests came, each with what ends it. */
  readonly open: Map<Exchange, (end?: End) => void>;
  /** Of the request that came last, open or not. */
  latest?: Exchange;
  waiting?: () => void;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Calls `ended` once, when the answer has gone out whole, or else when the connection has closed before that.
 * An answer that waits behind others of its connection (RFC 9112 section 9.3.2) hears nothing of its end from Node.
 */
export function watchExchange(exchange: Exchange, ended: (end: End) => void): void {
  const { request, reply } = exchange;
  const connection = connectionOf(request.raw.socket);
  const end = (told: End = { aborted: !reply.raw.writableFinished, status: reply.statusCode }) => {
    if (!connection.open.delete(exchange)) return;
    ended(told);
    connection.waiting?.();
  };
  connection.open.set(exchange, end);
  connection.latest = exchange;
  reply.raw.once('close', () => end());
}

/** For one that is answered past its reply. */
export function endExchange(exchange: Exchange, end: End): void {
  connectionOf(exchange.request.raw.socket).open.get(exchange)?.(end);
}

/** The request whose body is still being read, answered or not. */
export function unfinishedExchange(socket: Socket): Exchange | undefined {
  const latest = connections.get(socket)?.latest;
  return latest?.request.raw.complete === false ? latest : undefined;
}

/** Calls `done` once every request of the connection is over, but for `except`. At most one may wait for it. */
export function onceAnswered(socket: Socket, except: Exchange | undefined, done: () => void): void {
  const connection = connectionOf(socket);
  const look = () => {
    if ([...connection.open.keys()].some((exchange) => exchange !== except)) return;
    delete connection.waiting;
    done();
  };
  connection.waiting = look;
  look();
}

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known) return known;
  const connection: Connection = { open: new Map() };
  connections.set(socket, connection);
  socket.once('close', () => {
    for (const tell of connection.open.values()) tell();
  });
  return connection;
}
