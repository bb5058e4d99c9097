import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import { onTestFinished } from 'vitest';

export interface TestServer {
  readonly port: number;
  readonly url: string;
  /** Total number of connections. */
  connections(): number;
  /** Number of open connections. */
  open(): number;
  /** Method and path of each request. */
  readonly requests: readonly string[];
}

type RequestListener = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** An HTTP server. `count` is 1 for the first request. */
export function serve(respond: RequestListener): Promise<TestServer> {
  return listen((handle) => createServer(handle), 'http', respond);
}

export function serveTls(tls: ServerOptions, respond: RequestListener): Promise<TestServer> {
  return listen((handle) => createTlsServer(tls, handle), 'https', respond);
}

/** A TCP server. */
export async function serveSocket(respond: (socket: Socket) => void): Promise<TestServer> {
  return started(createSocketServer(respond), 'http', []);
}

async function listen(
  create: (handle: (request: IncomingMessage, response: ServerResponse) => void) => Server,
  scheme: string,
  respond: RequestListener,
): Promise<TestServer> {
  const requests: string[] = [];
  const server = create((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    respond(request, response, requests.length);
  });
  return started(server, scheme, requests);
}

async function started(server: SocketServer, scheme: string, requests: readonly string[]): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${scheme}://127.0.0.1:${port}`;
  return { port, url, requests, connections: () => connections, open: () => sockets.size };
}
