import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
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

export function serveTls(
  tls: { readonly key: string; readonly cert: string },
  respond: RequestListener,
): Promise<TestServer> {
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

/** A self-signed certificate for 127.0.0.1 (RFC 5280) and its key. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = der(0x30, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('test')));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const extension = (id: string, value: Buffer) =>
    der(0x30, der(0x06, Buffer.from(id, 'hex')), der(0x04, der(0x30, value)));
  const extensions = der(
    0x30,
    extension('551d13', der(0x01, Buffer.from([0xff]))),
    extension('551d11', der(0x87, Buffer.from([127, 0, 0, 1]))),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Tag, length and value (X.690). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const prefix =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(prefix), value]);
}
