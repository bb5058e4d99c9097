import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request and its response. It ends when the response is fully sent or the connection is closed. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** How an exchange ended. `aborted`: the caller disconnected before the response was fully sent. */
export interface End {
  readonly aborted: boolean;
  readonly status: number;
}

interface Connection {
  /** In order of arrival, each with the function that ends it. */
  readonly open: Map<Exchange, (end?: End) => void>;
  /** The exchange of the last request, open or ended. */
  latest?: Exchange;
  waiting?: () => void;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Calls `ended` once: when the response is fully sent, or when the connection closes before that. Node reports no end
 * for a pipelined response (RFC 9112 section 9.3.2) that is still queued behind others when its connection closes.
 */
export function watchExchange(exchange: Exchange, ended: (end: End) => void): void {
  const { request, reply } = exchange;
  const connection = connectionOf(request.raw.socket);
  const end = (result: End = { aborted: !reply.raw.writableFinished, status: reply.statusCode }) => {
    if (!connection.open.delete(exchange)) return;
    ended(result);
    connection.waiting?.();
  };
  connection.open.set(exchange, end);
  connection.latest = exchange;
  reply.raw.once('close', () => connection.open.get(exchange)?.());
}

/** Calls `done` when the exchange of this request ends, or at once: the parser can end it before the request's hooks have run. */
export function onceEnded(request: FastifyRequest, done: () => void): void {
  const { open } = connectionOf(request.raw.socket);
  const found = [...open].find(([exchange]) => exchange.request === request);
  if (!found) {
    done();
    return;
  }
  const [exchange, end] = found;
  open.set(exchange, (result) => {
    done();
    end(result);
  });
}

/** Ends an exchange whose response was written directly to the socket. */
export function endExchange(exchange: Exchange, end: End): void {
  connectionOf(exchange.request.raw.socket).open.get(exchange)?.(end);
}

/** The exchange whose request body is still being read, if any. Its response may already be sent. */
export function unfinishedExchange(socket: Socket): Exchange | undefined {
  const latest = connections.get(socket)?.latest;
  return latest?.request.raw.complete === false ? latest : undefined;
}

/** Calls `done` when every exchange of the connection except `except` has ended. Supports one waiter per connection. */
export function onceAnswered(socket: Socket, except: Exchange | undefined, done: () => void): void {
  const connection = connectionOf(socket);
  const check = () => {
    if ([...connection.open.keys()].some((exchange) => exchange !== except)) return;
    delete connection.waiting;
    done();
  };
  connection.waiting = check;
  check();
}

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known) return known;
  const connection: Connection = { open: new Map() };
  connections.set(socket, connection);
  socket.once('close', () => {
    for (const end of connection.open.values()) end();
  });
  return connection;
}
